import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { primaryKeyOfEntry } from "../../indexes/entry-value.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { isCovered } from "../plan/covered-read.js";
import { mayRepeat, nameOfIndex, type QueryPlan } from "../plan/query-plan.js";
import { EntryReader, maxBatch } from "./entry-reader.js";
import { isFirstKey } from "./first-key.js";
import { assertRow, foundRow } from "./found-row.js";
import { readRows } from "./read-rows.js";
import { type RowFilter, rowFilterOf } from "./row-filter.js";

/** A row, and the key of the entry that led to it. */
export interface ReadRow extends FoundRow {
  readonly entryKey: KvKey;
}

/**
 * Reads the rows of a plan, some at a time: entries of its index, then the rows that they point to, which are returned
 * only where they have the key that led to them. Where entries hold what the query asks for, the rows are not read.
 */
export class RowReader {
  readonly #context: TableContext;
  readonly #plan: QueryPlan;
  readonly #filter: RowFilter | undefined;
  readonly #meter: ReadMeter;
  readonly #entries: EntryReader;
  readonly #isCovered: boolean;
  readonly #mayRepeat: boolean;
  /** How many entries are read at the least where not every one is a row of the result. */
  #batch = 0;

  /**
   * @param looksAhead whether {@link hasMore} will be asked.
   * @throws {InvalidArgumentError} for a filter that is no function.
   */
  constructor(
    context: TableContext,
    { plan, after }: { readonly plan: QueryPlan; readonly after: KvKey | undefined },
    query: AnyQuery,
    meter: ReadMeter,
    looksAhead: boolean,
  ) {
    this.#context = context;
    this.#plan = plan;
    this.#filter = rowFilterOf(context.model, query.filter);
    this.#meter = meter;
    this.#isCovered = isCovered(context, plan, query);
    this.#mayRepeat = mayRepeat(plan);
    const cost = this.#isCovered ? 1 : 2;
    this.#entries = new EntryReader(context, plan, meter, { after, cost, looksAhead });
    meter.index = nameOfIndex(plan);
  }

  /**
   * Rows in the order of the plan, of `count` entries or more where not every entry is a row of the result; none where
   * there are no more.
   *
   * @throws {ReadLimitError} where there are more, and they may not be read.
   * @throws {InvalidArgumentError} where the filter answers with a promise.
   */
  async next(count: number): Promise<ReadRow[]> {
    for (;;) {
      const entries = await this.#entries.next(Math.max(count, this.#batch));
      if (entries.length === 0) return [];
      const rows = await this.#rowsOf(entries);
      const passed =
        this.#filter === undefined ? rows : rows.filter(({ row }) => this.#filter?.(row));
      if (passed.length < entries.length) this.#batch = Math.min(entries.length * 2, maxBatch);
      if (passed.length > 0) return passed;
    }
  }

  /** Whether there are more rows; with a filter, whether there are more that it would be asked about. */
  async hasMore(): Promise<boolean> {
    if (!this.#mayRepeat || this.#filter !== undefined) return await this.#entries.hasMore();
    while (this.#meter.left > 1) {
      const entries = await this.#entries.next(1);
      if (entries.length === 0) return false;
      if ((await this.#rowsOf(entries)).length > 0) return true;
    }
    return await this.#entries.hasMore();
  }

  async #rowsOf(entries: readonly KvEntry<unknown>[]): Promise<ReadRow[]> {
    const { index } = this.#plan;
    if (index === undefined) return this.#storedRows(entries);
    return this.#isCovered
      ? this.#heldRows(index, entries)
      : await this.#pointedRows(index, entries);
  }

  /** Entries that are the rows themselves. */
  #storedRows(entries: readonly KvEntry<unknown>[]): ReadRow[] {
    const rows: ReadRow[] = [];
    for (const entry of entries) {
      const found = foundRow(this.#context, entry.key.slice(1), entry);
      if (found !== undefined) rows.push(readRow(found, entry.key));
    }
    return rows;
  }

  /** What entries hold of rows. */
  #heldRows(index: CompiledIndex, entries: readonly KvEntry<unknown>[]): ReadRow[] {
    const rows: ReadRow[] = [];
    for (const { key, value, versionstamp, expireAt } of entries) {
      const primaryKey = primaryKeyOfEntry(this.#context.model, index, value);
      if (primaryKey === undefined) continue;
      const row = value as AnyRow;
      if (index.store === "copy") {
        const held = { primaryKey, row, versionstamp };
        if (!isFirstKey(this.#context, this.#plan, held, key)) continue;
        assertRow(this.#context, row, primaryKey);
      }
      rows.push({ entryKey: key, primaryKey, row, versionstamp, expireAt });
    }
    return rows;
  }

  /** The rows that entries point to, without those that no longer have the entry's key. */
  async #pointedRows(
    index: CompiledIndex,
    entries: readonly KvEntry<unknown>[],
  ): Promise<ReadRow[]> {
    const keys: KvKey[] = [];
    const primaryKeys: (readonly KvKeyPart[])[] = [];
    for (const { key, value } of entries) {
      const primaryKey = primaryKeyOfEntry(this.#context.model, index, value);
      if (primaryKey === undefined) continue;
      keys.push(key);
      primaryKeys.push(primaryKey);
    }
    this.#meter.add(primaryKeys.length);
    const stored = await readRows(this.#context, primaryKeys);
    const rows: ReadRow[] = [];
    for (const [i, primaryKey] of primaryKeys.entries()) {
      const found = foundRow(this.#context, primaryKey, stored[i]!);
      const entryKey = keys[i]!;
      if (found === undefined || !isFirstKey(this.#context, this.#plan, found, entryKey)) continue;
      rows.push(readRow(found, entryKey));
    }
    return rows;
  }
}

function readRow({ primaryKey, row, versionstamp, expireAt }: FoundRow, entryKey: KvKey): ReadRow {
  return { entryKey, primaryKey, row, versionstamp, expireAt };
}
