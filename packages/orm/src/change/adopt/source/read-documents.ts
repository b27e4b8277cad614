import type { KvKey } from "@keywright/core";
import type { RowId } from "../../../errors/orm-error.js";
import { InvalidArgumentError } from "../../../errors/query-errors.js";
import { awaitAll } from "../../../promises/await-all.js";
import type { SourceDocument, SourceEntry, SourceLayout, SourceReader } from "./source-layout.js";

export interface UnreadDocument {
  readonly id: RowId;
  readonly entry: SourceEntry;
  readonly error: unknown;
}

/** Entries that do not belong to a document are left out. */
export async function documentsOf(
  layout: SourceLayout,
  reader: SourceReader,
  entries: readonly SourceEntry[],
): Promise<(SourceDocument | UnreadDocument)[]> {
  const documents = await awaitAll(
    entries.map(async (entry): Promise<(SourceDocument | UnreadDocument)[]> => {
      const id = layout.idOf(entry.key);
      if (id === undefined) return [];
      try {
        const value = layout.readValue ? await layout.readValue(entry, id, reader) : entry.value;
        return [{ id, value, entry }];
      } catch (error) {
        if (error instanceof InvalidArgumentError) throw error;
        return [{ id, entry, error }];
      }
    }),
  );
  return documents.flat();
}

export async function documentsAt(
  layout: SourceLayout,
  reader: SourceReader,
  keys: readonly KvKey[],
): Promise<(SourceDocument | UnreadDocument)[]> {
  const entries = await reader.getMany(keys);
  return await documentsOf(
    layout,
    reader,
    entries.filter((entry) => entry !== undefined),
  );
}
