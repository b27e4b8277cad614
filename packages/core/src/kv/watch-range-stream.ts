import { Buffer } from "node:buffer";
import { textOfBytes } from "../bytes/text-of-bytes.js";
import type { Engine } from "../engine/engine.js";
import { InvalidOptionError } from "../errors/core-errors.js";
import { decodeKey } from "../keys/decode-key.js";
import type { KvKey } from "../keys/key.js";
import type { KeyOrder } from "../keys/key-order.js";
import type { KeyRange, KvListSelector } from "../keys/key-range.js";
import { ReportStream } from "./report-stream.js";

/** So many changed keys are kept for the reader of a stream. */
const maxKeys = 1000;

/** What has changed within the ranges that `watchRange` was given, since it was last reported. */
export interface KvRangeChange {
  /** Keys that were set or deleted, each of them once, in the order in which they first changed: 1,000 at the most. */
  readonly keys: readonly KvKey[];
  /** Whether these are all of them. Where it is false, any other key within the ranges may have changed too. */
  readonly isComplete: boolean;
}

/** What a stream of changes needs of its database. */
export interface WatchRangeSource {
  readonly engine: Engine;
  readonly order: KeyOrder;
  readonly ranges: readonly KeyRange[];
  /** Called when the stream has ended, whoever ended it. */
  onEnd(): void;
}

/** A stream of the keys that change within ranges from now on: `end()` closes it. */
export function watchRangeStream(source: WatchRangeSource): ReportStream<KvRangeChange> {
  const { engine, order, ranges } = source;
  // As texts, which are copies: a key that a commit shows may be a stretch of memory that is much larger.
  const changed = new Set<string>();
  let isComplete = true;

  function keep(keys: readonly Uint8Array[]): void {
    for (const key of keys) {
      if (!isComplete) return;
      const text = textOfBytes(key);
      if (changed.size < maxKeys || changed.has(text)) changed.add(text);
      else isComplete = false;
    }
  }

  function take(): KvRangeChange | undefined {
    if (changed.size === 0) return undefined;
    const keys = Array.from(changed, (text) => decodeKey(Buffer.from(text, "latin1"), order));
    const change = { keys, isComplete };
    changed.clear();
    isComplete = true;
    return change;
  }

  return new ReportStream<KvRangeChange>({
    next: take,
    subscribe: (onChange) =>
      engine.watchRanges(ranges, (keys) => {
        keep(keys);
        onChange();
      }),
    onEnd: () => {
      changed.clear();
      source.onEnd();
    },
  });
}

/** @throws {InvalidOptionError} where there are no selectors. */
export function assertSelectors(selectors: readonly KvListSelector[]): void {
  if (Array.isArray(selectors) && selectors.length > 0) return;
  throw new InvalidOptionError("selectors", "it is an array of at least one");
}
