import { compareBytes } from "../bytes/compare-bytes.js";
import { textOfBytes } from "../bytes/text-of-bytes.js";
import type { KeyRange } from "../keys/key-range.js";

type OnChange = (keys: readonly Uint8Array[]) => void;

interface RangeWatcher {
  readonly ranges: readonly KeyRange[];
  readonly onChange: OnChange;
}

export class RangeWatchers {
  readonly #watchers = new Set<RangeWatcher>();

  /** The returned function ends the watch. */
  add(ranges: readonly KeyRange[], onChange: OnChange): () => void {
    const watcher = { ranges, onChange };
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  /** Calls each watcher that has changed keys in its ranges once, with these keys. */
  notify(changed: readonly { readonly key: Uint8Array }[]): void {
    if (this.#watchers.size === 0) return;
    for (const { ranges, onChange } of [...this.#watchers]) {
      const keys: Uint8Array[] = [];
      for (const { key } of changed) if (isWithin(ranges, key)) keys.push(key);
      if (keys.length > 0) onChange(keys);
    }
  }
}

function isWithin(ranges: readonly KeyRange[], key: Uint8Array): boolean {
  for (const { start, end } of ranges) {
    if (compareBytes(key, start) >= 0 && compareBytes(key, end) < 0) return true;
  }
  return false;
}

export class KeyWatchers {
  readonly #watchersByKey = new Map<string, Set<() => void>>();

  /** The returned function ends the watch. */
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
