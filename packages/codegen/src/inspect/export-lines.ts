import type { KvEntry, KvLike } from "@keywright/core";
import { entryLine, exportHeader } from "./entry-line.js";
import { type EntryRange, listEntries } from "./list-entries.js";

/**
 * The lines of an export: a header, and each entry of a range.
 *
 * @param onEntry called with each of them.
 */
export async function* exportLines(
  kv: KvLike,
  { signal, ...range }: EntryRange & { readonly signal?: AbortSignal },
  onEntry: (entry: KvEntry<unknown>) => void = () => undefined,
): AsyncGenerator<string> {
  yield exportHeader;
  for await (const entry of listEntries(kv, range, { signal })) {
    onEntry(entry);
    yield entryLine(entry);
  }
}
