import { compareBytes } from "../bytes/compare-bytes.js";
import type { KeyRange } from "../keys/key-range.js";

type OnChange = (keys: readonly Uint8Array[]) => void;

interface RangeWatcher {
  readonly ranges: readonly KeyRange[];
  readonly onChange: OnChange;
}

/** The callbacks that watch ranges of keys. */
export class RangeWatchers {
  readonly #watchers = new Set<RangeWatcher>();

  /** Calls `onChange` with the changed keys in the ranges. The returned function ends the watch. */
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
