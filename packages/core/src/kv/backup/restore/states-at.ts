import { textOfBytes } from "../../../bytes/text-of-bytes.js";
import { combineU64 } from "../../../engine/commit/combine-u64.js";
import { hasExpired, type StoredEntry } from "../../../engine/engine.js";
import { isConsumerPositionKey } from "../../../engine/log/consumer-keys.js";
import {
  decodeLogRecord,
  encodeLogRecord,
  type LoggedChange,
  type LogRecord,
} from "../../../engine/log/log-record.js";
import { moveMarkKey } from "../../open/marks/move-mark.js";
import { restoreMarkKey } from "../../open/marks/restore-mark.js";
import type { BackupSource } from "../backup-source.js";
import { SortedItems } from "./sorted-items.js";

interface KeyedChange {
  readonly text: string;
  readonly versionstamp: string;
  readonly time: number;
  readonly change: LoggedChange;
}

/** Keys that describe the database itself and not its contents. */
const ownKeys = new Set([restoreMarkKey, moveMarkKey].map(textOfBytes));

/**
 * Yields the entries and messages of the state of a source, in the order of their keys. It merges
 * the entries of the full backup, which have this order, with the changes since, sorted by key.
 */
export async function* statesAt(source: BackupSource): AsyncGenerator<StoredEntry> {
  const sorted = new SortedItems();
  const changes = keyedChanges(sorted);
  try {
    for await (const record of source.commits()) addChanges(sorted, record);
    let next = nextOf(changes);
    /** True from lost entries to the next entry that is not lost. */
    let isGap = false;
    /** Applies the changes of the next key. */
    const change = (stored: StoredEntry | null): StoredEntry | null => {
      const { text } = next!;
      let state = stored;
      let isKnown = stored !== null || !isGap;
      for (; next?.text === text; next = nextOf(changes)) {
        // The full backup may already contain this change: its state can be later than its
        // versionstamp.
        if (stored !== null && next.versionstamp <= stored.versionstamp) continue;
        isKnown ||= next.change.operand === undefined;
        state = changed(state, next);
      }
      return isKnown && !ownKeys.has(text) ? state : null;
    };
    for await (const entry of source.entries()) {
      if (entry === undefined) {
        isGap = true;
        continue;
      }
      const text = textOfBytes(entry.key);
      while (next !== undefined && next.text < text) {
        const state = change(null);
        if (state !== null) yield state;
      }
      isGap = false;
      if (ownKeys.has(text) && next?.text !== text) continue;
      const state = next?.text === text ? change(entry) : entry;
      if (state !== null) yield state;
    }
    while (next !== undefined) {
      const state = change(null);
      if (state !== null) yield state;
    }
  } finally {
    changes.return(undefined);
    sorted.remove();
  }
}

function addChanges(sorted: SortedItems, { changes, time, versionstamp }: LogRecord): void {
  for (const [index, { type, key, after, operand }] of changes.entries()) {
    // A restored database has other versionstamps.
    if (isConsumerPositionKey(key)) continue;
    // Only the state after the changes is needed.
    const payload = encodeLogRecord(time, [{ type, key, before: null, after, operand }]);
    const second = versionstamp + String(index).padStart(10, "0");
    sorted.add({ first: textOfBytes(key), second, payload });
  }
}

function* keyedChanges(sorted: SortedItems): Generator<KeyedChange> {
  for (const { first, second, payload } of sorted.sorted()) {
    const versionstamp = second.slice(0, 20);
    const { time, changes } = decodeLogRecord(versionstamp, payload);
    yield { text: first, versionstamp, time, change: changes[0]! };
  }
}

function nextOf<T>(items: Generator<T>): T | undefined {
  const { done, value } = items.next();
  return done === true ? undefined : value;
}

function changed(
  state: StoredEntry | null,
  { change, versionstamp, time }: KeyedChange,
): StoredEntry | null {
  const { type, key, after, operand } = change;
  if (type === "delete" || type === "expire") return null;
  if (type === "set") return after && { key, ...after };
  // As the engine did at the time of the commit.
  const entry = state === null || hasExpired(state, time) ? undefined : state;
  const value = combineU64({ type, key, operand: operand! }, entry);
  return { key, value, versionstamp, expireAt: undefined };
}
