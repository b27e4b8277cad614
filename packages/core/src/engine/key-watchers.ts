import { textOfBytes } from "../bytes/text-of-bytes.js";

/** Who wants to know of which keys' changes. */
export class KeyWatchers {
  readonly #watchersByKey = new Map<string, Set<() => void>>();

  /** Calls `onChange` at each change of one of the keys, until the returned function is called. */
  add(keys: readonly Uint8Array[], onChange: () => void): () => void {
    const texts = new Set(keys.map(textOfBytes));
    // Its own function: the same one may watch twice.
    const watcher = () => onChange();
    for (const text of texts) {
      const watchers = this.#watchersByKey.get(text);
      if (watchers === undefined) this.#watchersByKey.set(text, new Set([watcher]));
      else watchers.add(watcher);
    }
    return () => {
      for (const text of texts) this.#remove(text, watcher);
    };
  }

  /** Tells those who watch one of the changed keys, each of them once. */
  notify(changed: Iterable<{ readonly key: Uint8Array }>): void {
    if (this.#watchersByKey.size === 0) return;
    const watchers = new Set<() => void>();
    for (const { key } of changed) {
      for (const watcher of this.#watchersByKey.get(textOfBytes(key)) ?? []) watchers.add(watcher);
    }
    for (const watcher of watchers) watcher();
  }

  #remove(text: string, watcher: () => void): void {
    const watchers = this.#watchersByKey.get(text);
    watchers?.delete(watcher);
    if (watchers?.size === 0) this.#watchersByKey.delete(text);
  }
}
