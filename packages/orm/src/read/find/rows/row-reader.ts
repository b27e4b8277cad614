import { encodeKey, type KvKey, type KvListedEntry, type MaybePromise } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import { IndexKeyError } from "../../../errors/row-errors.js";
import type { AnyRow, CompiledIndex } from "../../../model/compiled-model.js";
import { primaryKeyOfEntry, rowInEntry, selectedFields } from "../../../model/keys/entry-value.js";
import { hasIndexKey, indexKeys, isEntryOfRow } from "../../../model/keys/index-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import { keyText } from "../../../model/keys/key-text.js";
import { whenReady } from "../../../promises/when-ready.js";
import type { AnyQuery, FoundRow } from "../../../state/context/any-query.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import {
  entriesThatLead,
  leadsByValue,
  linkedRow,
  readLinkedRows,
} from "../../../state/rows/linked-rows.js";
import { ListedRow, listedRow } from "../../../state/rows/listed-row.js";
import { assertRow } from "../../../state/rows/read-rows.js";
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
  next(count: number): MaybePromise<ReadRow[]>;
  /** The texts of the keys of entries that led to no row of the query. */
  readonly lost: readonly string[];
  /** True if there are more rows. Also true if the limit of reads does not allow to find out. */
  hasMore(): MaybePromise<boolean>;
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
  /** The fields that the query selects from entries. Undefined if it needs all. */
  readonly #fields: readonly string[] | undefined;
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
    const { index } = plan;
    this.#fields = this.#isCovered && index ? selectedFields(query.select) : undefined;
    const cost = this.#isCovered ? 1 : 2;
    const withValues = this.#isCovered || index === undefined || leadsByValue(index);
    const properties = this.#fields && propertiesOf(view, index!, this.#fields);
    const options = { after, cost, looksAhead, withValues, properties };
    this.#entries = new EntryReader(view, plan, meter, options);
    meter.index = nameOfIndex(plan);
  }

  /**
   * Returns the next rows in the order of the plan. Reads `count` entries, or more if some entries
   * are not rows of the result, so it may return more than `count` rows. Returns none if there are
   * no more.
   */
  next(count: number): MaybePromise<ReadRow[]> {
    const entries = this.#entries.next(Math.max(count, this.#minBatch));
    return whenReady(entries, (found) =>
      found.length === 0
        ? []
        : whenReady(this.#rowsOf(found), (rows) => this.#pass(rows, found.length, count)),
    );
  }

  /** Returns the rows that pass the filter, or the next rows if there are none. */
  #pass(rows: ReadRow[], entries: number, count: number): MaybePromise<ReadRow[]> {
    const filter = this.#filter;
    const passed = filter === undefined ? rows : rows.filter(({ row }) => filter(row));
    if (passed.length < entries) this.#minBatch = Math.min(entries * 2, maxBatch);
    return passed.length > 0 ? passed : this.next(count);
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

  #rowsOf(entries: readonly KvListedEntry[]): MaybePromise<ReadRow[]> {
    const { index } = this.#plan;
    if (index === undefined) return this.#rowsAsEntries(entries);
    return this.#isCovered
      ? this.#rowsInEntries(index, entries)
      : this.#rowsOfPointers(index, entries);
  }

  #rowsAsEntries(entries: readonly KvListedEntry[]): ReadRow[] {
    const rows: ReadRow[] = [];
    for (const entry of entries) {
      const row = listedRow(this.#view, entry, entry, 1);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  #rowsInEntries(index: CompiledIndex, entries: readonly KvListedEntry[]): ReadRow[] {
    const rows: ReadRow[] = [];
    for (const entry of entries) {
      const primaryKey = primaryKeyOfEntry(this.#view.model, index, entry.value);
      if (primaryKey === undefined) continue;
      const row = rowInEntry(index, entry, entry.value as AnyRow, this.#fields);
      const found = new ListedRow(row, entry, entry, primaryKey);
      if (index.store === "copy") {
        if (!isFirstKey(this.#view, this.#plan, found, entry.key)) continue;
        assertRow(this.#view, row, primaryKey);
      }
      rows.push(found);
    }
    return rows;
  }

  #rowsOfPointers(
    index: CompiledIndex,
    entries: readonly KvListedEntry[],
  ): MaybePromise<ReadRow[]> {
    const leading = entriesThatLead(this.#view, index, entries);
    this.#meter.add(leading.length);
    return whenReady(readLinkedRows(this.#view, index, leading), (stored) => {
      const rows: ReadRow[] = [];
      for (let i = 0; i < leading.length; i++) {
        const entry = leading[i]!;
        const found = linkedRow(this.#view, index, entry, stored[i]);
        if (found !== undefined && isRowOfEntry(this.#view, this.#plan, found, entry))
          rows.push(found);
        else if (found === undefined || !mayRepeat(this.#plan)) this.lost.push(keyText(entry.key));
      }
      return rows;
    });
  }
}

/**
 * Returns the properties of the values of entries that a query needs. Undefined for all of them.
 */
function propertiesOf(
  { model }: ReadView,
  { store, include, inKey }: CompiledIndex,
  fields: readonly string[],
): ReadonlySet<string> | undefined {
  if (store !== "include") return undefined;
  const inValue = fields.filter((field) => !inKey.has(field));
  const properties = new Set([...model.primaryKey, ...inValue]);
  return properties.size < include.length ? properties : undefined;
}

/** True if a row that an index entry leads to belongs to the entry, as {@link isFirstKey}. */
export function isRowOfEntry(
  view: ReadView,
  plan: QueryPlan,
  found: FoundRow,
  entry: KvListedEntry,
): boolean {
  const { index } = plan;
  if (index === undefined) return true;
  if (index.each !== undefined) return isFirstKey(view, plan, found, entry.key);
  return isEntryOfRow(view.model, index, found.row, entry);
}

/**
 * True if a row has the key of an index entry, and no other of its keys comes earlier in the plan.
 * A row with several keys is thus returned once. The row is compared as it was read, so an outdated
 * entry does not count.
 */
function isFirstKey(
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
