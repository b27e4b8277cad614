import { type KvEntry, type KvLike, listSnapshot } from "@keywright/core";
import { endLine, entryLine, exportHeader } from "../entries/entry-line.js";
import { type EntryRange, selectorOf } from "../entries/list-entries.js";

/**
 * Yields the lines of an export: the header, each entry of a range of one state of the database,
 * and the last line with the number of entries. If the signal is aborted, the last line is missing.
 *
 * @param onEntry called with each entry.
 * @throws {DatabaseChangedError} before the last line, if the database has no views and has
 * changed.
 */
export async function* exportLines(
  kv: KvLike,
  { signal, ...range }: EntryRange & { readonly signal?: AbortSignal },
  onEntry: (entry: KvEntry<unknown>) => void = () => undefined,
): AsyncGenerator<string> {
  yield exportHeader;
  let entries = 0;
  for await (const entry of listSnapshot(kv, selectorOf(range))) {
    if (signal?.aborted) break;
    onEntry(entry);
    yield entryLine(entry);
    entries++;
  }
  if (!signal?.aborted) yield endLine(entries);
}
