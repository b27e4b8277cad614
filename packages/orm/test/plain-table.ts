import { compareKeys, type KvKey } from "@keywright/core";
import type { AnyIndexDefinition, Model } from "../src/index.js";
import { expectedEntries, idOf, primaryKeyOfRow } from "./verify-indexes.js";

type AnyRow = Readonly<Record<string, unknown>>;

/** What a call does by the rules: the code of its error, or nothing. */
export type PlainResult = { readonly row: AnyRow } | { readonly code: string };

/** A model's rows in a plain map, with the rules of their unique indexes and nothing else. */
export class PlainTable {
  readonly #model: Model;
  #rows = new Map<string, AnyRow>();

  constructor(model: Model) {
    this.#model = model;
  }

  /** The rows in the order of the primary key. */
  get rows(): AnyRow[] {
    return [...this.#rows.values()].sort((a, b) =>
      compareKeys(primaryKeyOfRow(this.#model, a), primaryKeyOfRow(this.#model, b)),
    );
  }

  /** What brings the rows back as they are now. */
  snapshot(): () => void {
    const rows = new Map(this.#rows);
    return () => {
      this.#rows = new Map(rows);
    };
  }

  find(primaryKey: AnyRow): AnyRow | undefined {
    return this.#rows.get(this.#idOf(primaryKey));
  }

  create(row: AnyRow): PlainResult {
    if (this.find(row) !== undefined) return { code: "KW_UNIQUE_CONSTRAINT" };
    return this.#put(row);
  }

  update(primaryKey: AnyRow, change: (row: AnyRow) => AnyRow): PlainResult {
    const row = this.find(primaryKey);
    return row === undefined ? { code: "KW_ROW_NOT_FOUND" } : this.#put(change(row));
  }

  delete(primaryKey: AnyRow): PlainResult {
    const row = this.find(primaryKey);
    if (row === undefined) return { code: "KW_ROW_NOT_FOUND" };
    this.#rows.delete(this.#idOf(primaryKey));
    return { row };
  }

  /** Puts a row in the place of the one with its primary key, whatever the rules say. */
  replace(row: AnyRow): void {
    this.#rows.set(this.#idOf(row), row);
  }

  /**
   * The rows that have an entry of an index that begins with a key, in the order of their first
   * such entries.
   */
  rowsAt(name: string, prefix: KvKey): AnyRow[] {
    const matches = this.rows.flatMap((row) =>
      this.entries(name, row)
        .filter((key) => idOf(key.slice(0, prefix.length)) === idOf(prefix))
        .map((key) => ({ key, row })),
    );
    matches.sort((a, b) => compareKeys(a.key, b.key));
    return [...new Set(matches.map(({ row }) => row))];
  }

  /** The keys of a row's entries in an index. */
  entries(name: string, row: AnyRow): KvKey[] {
    const definition = this.#model.indexes[name] as AnyIndexDefinition;
    const primaryKey = primaryKeyOfRow(this.#model, row);
    return expectedEntries(this.#model, name, definition, row, primaryKey).map(({ key }) => key);
  }

  #put(row: AnyRow): PlainResult {
    const own = this.#idOf(row);
    for (const [name, { unique }] of Object.entries<AnyIndexDefinition>(this.#model.indexes)) {
      if (!unique) continue;
      const keys = this.entries(name, row).map(idOf);
      for (const [id, other] of this.#rows) {
        if (id === own) continue;
        if (this.entries(name, other).some((key) => keys.includes(idOf(key)))) {
          return { code: "KW_UNIQUE_CONSTRAINT" };
        }
      }
    }
    this.#rows.set(own, row);
    return { row };
  }

  #idOf(primaryKey: AnyRow): string {
    return idOf(primaryKeyOfRow(this.#model, primaryKey));
  }
}
