import { Buffer } from "node:buffer";
import { encodeKey, type KvEntry, type KvKey, type KvKeyPart } from "@keywright/core";
import { IndexKeyError } from "../../../errors/row-errors.js";
import type { AnyRow, CompiledIndex } from "../../../model/compiled-model.js";
import { primaryKeyOfEntry, rowInEntry } from "../../../model/keys/entry-value.js";
import { hasIndexKey, indexKeys } from "../../../model/keys/index-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import { keyText } from "../../../model/keys/key-text.js";
import { storedTime } from "../../../model/rows/time.js";
import type { AnyQuery, FoundRow } from "../../../state/context/any-query.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { assertRow, foundRow, readRows } from "../../../state/rows/read-rows.js";
import {
  findSegment,
  isCovered,
  mayRepeat,
  nameOfIndex,
  type QueryPlan,
  readsMarkedRows,
} from "../../plan/ranges/query-plan.js";
import { EntryReader, maxBatch } from "../entries/entry-reader.js";
import { type RowFilter, rowFilterOf } from "./row-filter.js";

export interface ReadRow extends FoundRow {
  readonly entryKey: KvKey;
}

/** Reads the rows of a query in batches. */
export interface RowSource {
  /**
   * Returns the next rows in the order of the query, at least one if there are more.
   *
   * @param count how many rows are wanted. More may be returned.
   */
  next(count: number): Promise<ReadRow[]>;
  /** The texts of the keys of entries that led to no row of the query. */
  readonly lost: readonly string[];
  /** True if there are more rows. Also true if the limit of reads does not allow to find out. */
  hasMore(): Promise<boolean>;
}

/**
 * Reads the rows of a plan in batches: first entries of its index, then the rows that they point
 * to. A row is returned only if it still has the key of the entry. If the entries hold all that the
 * query returns, the rows are not read.
 */
export class RowReader implements RowSource {
  readonly #view: ReadView;
  readonly #plan: QueryPlan;
  readonly #filter: RowFilter | undefined;
  readonly #meter: ReadMeter;
  readonly #entries: EntryReader;
  readonly #isCovered: boolean;
  /** True if an entry may not be a row of the result, although no writer has changed it. */
  readonly #mayLeaveOut: boolean;
  /** The minimum number of entries that are read together. It grows if some are left out. */
  #minBatch = 0;
  readonly lost: string[] = [];

  constructor(
    view: ReadView,
    { plan, after }: { readonly plan: QueryPlan; readonly after: KvKey | undefined },
    query: AnyQuery,
    meter: ReadMeter,
    looksAhead: boolean,
  ) {
    this.#view = view;
    this.#plan = plan;
    const { filter } = query;
    this.#filter = filter === undefined ? undefined : rowFilterOf(view.model, filter);
    this.#meter = meter;
    this.#isCovered = isCovered(view, plan, query);
    // A list of rows contains those that are marked as deleted, unless an index leaves them out.
    this.#mayLeaveOut = mayRepeat(plan) || readsMarkedRows(view, plan.index);
    const cost = this.#isCovered ? 1 : 2;
    this.#entries = new EntryReader(view, plan, meter, { after, cost, looksAhead });
    meter.index = nameOfIndex(plan);
  }

  /**
   * Returns the next rows in the order of the plan. Reads `count` entries, or more if some entries
   * are not rows of the result, so it may return more than `count` rows. Returns none if there are
   * no more.
   */
  async next(count: number): Promise<ReadRow[]> {
    for (;;) {
      const entries = await this.#entries.next(Math.max(count, this.#minBatch));
      if (entries.length === 0) return [];
      const rows = await this.#rowsOf(entries);
      const passed =
        this.#filter === undefined ? rows : rows.filter(({ row }) => this.#filter?.(row));
      if (passed.length < entries.length) this.#minBatch = Math.min(entries.length * 2, maxBatch);
      if (passed.length > 0) return passed;
    }
  }

  async hasMore(): Promise<boolean> {
    if (!this.#mayLeaveOut || this.#filter !== undefined) return await this.#entries.hasMore();
    while (this.#meter.left > 1) {
      const entries = await this.#entries.next(1);
      if (entries.length === 0) return false;
      if ((await this.#rowsOf(entries)).length > 0) return true;
    }
    return await this.#entries.hasMore();
  }

  async #rowsOf(entries: readonly KvEntry<unknown>[]): Promise<ReadRow[]> {
    const { index } = this.#plan;
    if (index === undefined) return this.#rowsAsEntries(entries);
    return this.#isCovered
      ? this.#rowsInEntries(index, entries)
      : await this.#rowsAtPointers(index, entries);
  }

  #rowsAsEntries(entries: readonly KvEntry<unknown>[]): ReadRow[] {
    const rows: ReadRow[] = [];
    for (const entry of entries) {
      const primaryKey = entry.key.slice(1);
      const found = foundRow(this.#view, primaryKey, entry);
      if (found === undefined) continue;
      const { row, versionstamp, expireAt } = found;
      rows.push({ entryKey: entry.key, primaryKey, row, versionstamp, expireAt });
    }
    return rows;
  }

  #rowsInEntries(index: CompiledIndex, entries: readonly KvEntry<unknown>[]): ReadRow[] {
    const rows: ReadRow[] = [];
    for (const { key, value, versionstamp, expireAt } of entries) {
      const primaryKey = primaryKeyOfEntry(this.#view.model, index, value);
      if (primaryKey === undefined) continue;
      const row = rowInEntry(index, key, value as AnyRow);
      if (index.store === "copy") {
        const found = { primaryKey, row, versionstamp };
        if (!isFirstKey(this.#view, this.#plan, found, key)) continue;
        assertRow(this.#view, row, primaryKey);
      }
      rows.push({
        entryKey: key,
        primaryKey,
        row,
        versionstamp,
        expireAt: storedTime(expireAt),
      });
    }
    return rows;
  }

  async #rowsAtPointers(
    index: CompiledIndex,
    entries: readonly KvEntry<unknown>[],
  ): Promise<ReadRow[]> {
    const keys: KvKey[] = [];
    const primaryKeys: (readonly KvKeyPart[])[] = [];
    for (const { key, value } of entries) {
      const primaryKey = primaryKeyOfEntry(this.#view.model, index, value);
      if (primaryKey === undefined) continue;
      keys.push(key);
      primaryKeys.push(primaryKey);
    }
    this.#meter.add(primaryKeys.length);
    const stored = await readRows(this.#view, primaryKeys);
    const rows: ReadRow[] = [];
    for (const [i, primaryKey] of primaryKeys.entries()) {
      const found = foundRow(this.#view, primaryKey, stored[i]!);
      const entryKey = keys[i]!;
      if (found === undefined || !isFirstKey(this.#view, this.#plan, found, entryKey)) {
        if (found === undefined || !mayRepeat(this.#plan)) this.lost.push(keyText(entryKey));
        continue;
      }
      const { row, versionstamp, expireAt } = found;
      rows.push({ entryKey, primaryKey, row, versionstamp, expireAt });
    }
    return rows;
  }
}

/**
 * True if a row has the key of an index entry, and no other of its keys comes earlier in the plan.
 * A row with several keys is thus returned once. The row is compared as it was read, so an outdated
 * entry does not count.
 */
export function isFirstKey(
  { model }: ReadView,
  plan: QueryPlan,
  { row, primaryKey }: FoundRow,
  key: KvKey,
): boolean {
  const { index, reverse } = plan;
  if (index === undefined) return true;
  if (!mayRepeat(plan)) return hasIndexKey(model, index, row, primaryKey, key);
  let rowKeys: readonly KvKey[];
  try {
    rowKeys = indexKeys(model, index, row, primaryKey);
  } catch (error) {
    // A row written by hand, with a value that the index cannot hold, has no key in it.
    if (error instanceof IndexKeyError) return false;
    throw error;
  }
  if (!rowKeys.some((other) => isSameKey(other, key))) return false;
  if (rowKeys.length === 1) return true;
  const bytes = encodeKey(key, model.keyOrder);
  return !rowKeys.some((other) => {
    const difference = Buffer.compare(encodeKey(other, model.keyOrder), bytes);
    const isBefore = reverse ? difference > 0 : difference < 0;
    return isBefore && findSegment(plan, other) >= 0;
  });
}
