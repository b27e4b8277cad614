import { compareBytes } from "../bytes/compare-bytes.js";
import { textOfBytes } from "../bytes/text-of-bytes.js";
import type { KeyRange } from "../keys/key-range.js";
import type { RangeListener } from "./engine.js";
import { visibleRange } from "./system-keys.js";

interface RangeWatcher {
  readonly ranges: readonly KeyRange[];
  readonly onChange: RangeListener;
}

/** The watches of an engine, and which of them a change concerns. */
export class ChangeWatchers {
  readonly #watchersByKey = new Map<string, Set<() => void>>();
  readonly #rangeWatchers = new Set<RangeWatcher>();

  get isEmpty(): boolean {
    return this.#watchersByKey.size === 0 && this.#rangeWatchers.size === 0;
  }

  /** Adds a watch of keys. The returned function ends it. */
  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
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

  /** Adds a watch of ranges, without the database's own keys. The returned function ends it. */
  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    const watcher = { ranges: ranges.map(visibleRange), onChange };
    this.#rangeWatchers.add(watcher);
    return () => {
      this.#rangeWatchers.delete(watcher);
    };
  }

  /** Calls each watcher that the changed keys concern once. */
  notify(changed: readonly { readonly key: Uint8Array }[]): void {
    for (const watcher of this.#watchersOf(changed)) watcher();
    if (this.#rangeWatchers.size === 0) return;
    for (const { ranges, onChange } of [...this.#rangeWatchers]) {
      const keys: Uint8Array[] = [];
      for (const { key } of changed) if (isWithin(ranges, key)) keys.push(key);
      if (keys.length > 0) onChange(keys);
    }
  }

  /** Calls all watchers, because it is not known which keys have changed. */
  notifyUnknown(): void {
    const watchers = new Set([...this.#watchersByKey.values()].flatMap((each) => [...each]));
    for (const watcher of watchers) watcher();
    for (const { onChange } of [...this.#rangeWatchers]) onChange(undefined);
  }

  #watchersOf(changed: readonly { readonly key: Uint8Array }[]): Set<() => void> {
    const watchers = new Set<() => void>();
    if (this.#watchersByKey.size === 0) return watchers;
    for (const { key } of changed) {
      for (const watcher of this.#watchersByKey.get(textOfBytes(key)) ?? []) watchers.add(watcher);
    }
    return watchers;
  }

  #remove(text: string, watcher: () => void): void {
    const watchers = this.#watchersByKey.get(text);
    watchers?.delete(watcher);
    if (watchers?.size === 0) this.#watchersByKey.delete(text);
  }
}

function isWithin(ranges: readonly KeyRange[], key: Uint8Array): boolean {
  for (const { start, end } of ranges) {
    if (compareBytes(key, start) >= 0 && compareBytes(key, end) < 0) return true;
  }
  return false;
}
