import type { KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../../model/compiled-model.js";
import { keyPartOf } from "../../../model/keys/key-parts.js";
import type { SourceEntry, SourceLayout } from "./source-layout.js";

export interface PentagonOptions {
  /** The name of the table in `createPentagon`. */
  readonly table: string;
  /** The field that is described as `"primary"`. `"id"` by default. */
  readonly primaryKey?: string;
  /** The fields that are described as `"unique"` or `"index"`. */
  readonly indexes?: Readonly<Record<string, "unique" | "index">>;
  /**
   * True for early releases. The entries of all their indexes are under
   * `["users_by_email", email]`. Later releases use `["users_by_unique_email", email]` for unique
   * indexes and `["users_by_age", age, id]` for others.
   */
  readonly early?: boolean;
}

/**
 * Returns the layout of a table of pentagon (`src/keys.ts` and `src/crud.ts` in its repository).
 * Rows are under `["users", id]`, and index entries hold a copy of the row. An absent field has no
 * entry. Whether a field that is false, zero or an empty string has one depends on the release, so
 * both is accepted. Some releases store a `versionstamp` in the row, which is left out.
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
        const part = keyPartOf(row[field]);
        if (part === undefined) return [];
        const key: KvKeyPart[] = [prefixOf(field, kind), part];
        if (kind === "index" && !early) key.push(id as KvKeyPart);
        return [{ key, value: entry.value, isOptional: !part }];
      });
    },
    ownerOf: (entry) => ownerOf(entry, primaryKey),
  };
}

/** Of an index that is not unique, the id is in the key. Otherwise it is in the copied row. */
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
