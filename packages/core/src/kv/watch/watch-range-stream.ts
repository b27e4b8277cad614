import { Buffer } from "#platform";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { Engine } from "../../engine/engine.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import type { KeyRange, KvListSelector } from "../../keys/key-range.js";
import { reportStream } from "./report-stream.js";
import type { Open } from "./watch.js";

const maxKeys = 1000;

/** The changes within the ranges of `watchRange` since the last report. */
export interface KvRangeChange {
  /** At most 1,000 keys that were set or deleted, each once, in the order of their first change. */
  readonly keys: readonly KvKey[];
  /** True if `keys` has all changed keys. Otherwise other keys may have changed too. */
  readonly isComplete: boolean;
}

export interface WatchRangeSource {
  readonly engine: Engine;
  readonly order: KeyOrder;
  readonly ranges: readonly KeyRange[];
  readonly open: Open;
}

/** Returns a stream of the keys that change within ranges after this call. */
export function watchRangeStream(source: WatchRangeSource): ReadableStream<KvRangeChange> {
  const { engine, order, ranges, open } = source;
  // Texts, because they are copies: a key of a commit may be a view of a much larger buffer.
  const changed = new Set<string>();
  let isComplete = true;

  function keep(keys: readonly Uint8Array[] | undefined): void {
    if (keys === undefined) isComplete = false;
    for (const key of keys ?? []) {
      if (!isComplete) return;
      const text = textOfBytes(key);
      if (changed.size < maxKeys || changed.has(text)) changed.add(text);
      else isComplete = false;
    }
  }

  function take(): KvRangeChange | undefined {
    if (changed.size === 0 && isComplete) return undefined;
    const keys: KvKey[] = [];
    for (const text of changed) {
      try {
        keys.push(decodeKey(Buffer.from(text, "latin1"), order));
      } catch {
        // Another program has stored the entry. A read reports its key.
        isComplete = false;
      }
    }
    const change = { keys, isComplete };
    changed.clear();
    isComplete = true;
    return change;
  }

  const subscribe = (onChange: () => void) =>
    engine.watchRanges(ranges, (keys) => {
      keep(keys);
      onChange();
    });
  return reportStream<KvRangeChange>({ next: take, subscribe }, open);
}

export function assertSelectors(selectors: readonly KvListSelector[]): void {
  if (Array.isArray(selectors) && selectors.length > 0) return;
  const reason = "must be an array of at least one selector";
  throw new InvalidOptionError("selectors", reason, "watchRange");
}
