import type { KvEntry, KvLike } from "@keywright/core";
import { endLine, entryLine, exportHeader } from "../entries/entry-line.js";
import { type EntryRange, listEntries } from "../entries/list-entries.js";

/**
 * Yields the lines of an export: the header, each entry of a range, and the last line with the
 * number of entries. If the signal is aborted, the last line is missing.
 *
 * @param onEntry called with each entry.
 */
export async function* exportLines(
  kv: KvLike,
  { signal, ...range }: EntryRange & { readonly signal?: AbortSignal },
  onEntry: (entry: KvEntry<unknown>) => void = () => undefined,
): AsyncGenerator<string> {
  yield exportHeader;
  let entries = 0;
  for await (const entry of listEntries(kv, range, { signal })) {
    onEntry(entry);
    yield entryLine(entry);
    entries++;
  }
  if (!signal?.aborted) yield endLine(entries);
}
