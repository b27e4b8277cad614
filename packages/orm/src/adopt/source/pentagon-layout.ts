import type { KvKey, KvKeyPart } from "@keywright/core";
import { keyPartOf } from "../../indexes/key-parts.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { SourceEntry, SourceLayout } from "./source-layout.js";

/** A table as pentagon stores it. */
export interface PentagonOptions {
  /** Its name in `createPentagon`. */
  readonly table: string;
  /** The field that is described as `"primary"`; `"id"` without it. */
  readonly primaryKey?: string;
  /** The fields that are described as `"unique"` or `"index"`. */
  readonly indexes?: Readonly<Record<string, "unique" | "index">>;
  /**
   * True for releases that store the entries of every index under `["users_by_email", email]`. Later ones have
   * `["users_by_unique_email", email]` for unique ones, and `["users_by_age", age, id]` for others.
   */
  readonly early?: boolean;
}

/**
 * The layout of a table of pentagon (`src/keys.ts` and `src/crud.ts` in skoshx/pentagon): rows under `["users", id]`, and in
 * each index a copy of the row. A field without a value, or with one that is false, zero or an empty text, has no entry.
 * The `versionstamp` that some releases store in the row is left out.
 */
export function pentagonLayout(options: PentagonOptions): SourceLayout {
  const { table, primaryKey = "id", indexes = {}, early = false } = options;
  const prefixOf = (field: string, kind: "unique" | "index") =>
    kind === "unique" && !early ? `${table}_by_unique_${field}` : `${table}_by_${field}`;
  const kinds = Object.entries(indexes);
  return {
    rows: [table],
    indexes: kinds.map(([field, kind]) => [prefixOf(field, kind)]),
    idOf: (key) => (key.length === 2 ? key[1] : undefined),
    readValue: ({ value }) => withoutVersionstamp(value),
    entriesOf: ({ id, value, entry }) => {
      const row = value as AnyRow;
      return kinds.flatMap(([field, kind]) => {
        const part = row[field] ? keyPartOf(row[field]) : undefined;
        if (part === undefined) return [];
        const key: KvKeyPart[] = [prefixOf(field, kind), part];
        if (kind === "index" && !early) key.push(id as KvKeyPart);
        return [{ key, value: entry.value }];
      });
    },
    ownerOf: (entry) => ownerOf(entry, primaryKey),
  };
}

/** The row that an entry is a copy of: its key tells it where the index is not unique. */
function ownerOf({ key, value }: SourceEntry, primaryKey: string): KvKey[number] | undefined {
  if (key.length === 3) return key[2];
  if (typeof value !== "object" || value === null) return undefined;
  return keyPartOf((value as AnyRow)[primaryKey]);
}

function withoutVersionstamp(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("versionstamp" in value)) return value;
  const { versionstamp: _, ...row } = value;
  return row;
}
