import { setImmediate } from "node:timers/promises";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import { isRangeEnd, type ReadView, type StoredEntry } from "../../engine/engine.js";
import { afterEntries, firstEntryKey } from "../../engine/system-keys.js";
import { keyAfter } from "../../keys/key-range.js";
import { messageKeys } from "../queue/message-key.js";
import { isKeyOfMove } from "./own-keys.js";

const pageSize = 500;
const ranges = [messageKeys, { start: firstEntryKey, end: afterEntries }];

/** A stored entry with its key as a text. */
export interface ListedEntry {
  readonly text: string;
  readonly entry: StoredEntry;
}

/** Yields the messages and entries that are moved, in the order of their keys. */
export async function* listStored(
  reads: Pick<ReadView, "getRange">,
  signal: AbortSignal | undefined,
): AsyncGenerator<ListedEntry> {
  for (const { start: first, end } of ranges) {
    let start = first;
    for (let isEnd = false; !isEnd; ) {
      signal?.throwIfAborted();
      const page = await reads.getRange({ range: { start, end }, limit: pageSize, reverse: false });
      for (const entry of page) {
        const text = textOfBytes(entry.key);
        if (!isKeyOfMove(text, entry.key)) yield { text, entry };
      }
      isEnd = isRangeEnd(page, pageSize);
      const last = page.at(-1);
      if (last !== undefined) start = keyAfter(last.key);
      // Reads may not wait for anything, and others have work too.
      await setImmediate();
    }
  }
}
