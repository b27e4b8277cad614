import type { KvKey } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { SourceDocument, SourceEntry, SourceLayout, SourceReader } from "./source-layout.js";

/** A document whose value could not be read. */
export interface UnreadDocument {
  readonly id: RowId;
  readonly error: unknown;
}

/**
 * Returns the documents of some entries. Entries that do not belong to a document are left out.
 *
 * @throws {InvalidArgumentError} if the layout is not that of the source.
 */
export async function documentsOf(
  layout: SourceLayout,
  reader: SourceReader,
  entries: readonly SourceEntry[],
): Promise<(SourceDocument | UnreadDocument)[]> {
  const documents = await Promise.all(
    entries.map(async (entry): Promise<(SourceDocument | UnreadDocument)[]> => {
      const id = layout.idOf(entry.key);
      if (id === undefined) return [];
      try {
        const value = layout.readValue ? await layout.readValue(entry, id, reader) : entry.value;
        return [{ id, value, entry }];
      } catch (error) {
        if (error instanceof InvalidArgumentError) throw error;
        return [{ id, error }];
      }
    }),
  );
  return documents.flat();
}

/** Returns the documents under some keys. Keys without an entry are left out. */
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
