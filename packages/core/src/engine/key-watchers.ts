import { textOfBytes } from "../bytes/text-of-bytes.js";

/** The callbacks that watch keys. */
export class KeyWatchers {
  readonly #watchersByKey = new Map<string, Set<() => void>>();

  /** Calls `onChange` at each change of one of the keys. The returned function ends the watch. */
  add(keys: readonly Uint8Array[], onChange: () => void): () => void {
    const texts = new Set(keys.map(textOfBytes));
    // A new function, because the same `onChange` may be added twice.
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

  /** Calls each watcher of one of the changed keys once. */
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
