import type { KvEntry, KvLike } from "@keywright/core";
import { endLine, entryLine, exportHeader } from "../entries/entry-line.js";
import { type EntryRange, listEntries } from "../entries/list-entries.js";

/**
 * The lines of an export: a header, each entry of a range, and how many they were. Where the signal has ended it, that is missing.
 *
 * @param onEntry called with each of them.
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
