import type { KvKeyPart } from "@keywright/core";
import { VersionConflictError } from "../../../errors/row-errors.js";
import { keyText } from "../../../model/keys/key-text.js";
import { pointerOf, rowKey } from "../../../model/keys/primary-key.js";
import type { AnyQuery } from "../../../state/context/any-query.js";
import type { KeySource, OpenFilters } from "../../../state/context/open-filters.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { foundRow, readRows } from "../../../state/rows/read-rows.js";
import { nameOfIndex, type Plan } from "../../plan/ranges/query-plan.js";
import { maxBatch } from "../entries/entry-reader.js";
import { type RowFilter, rowFilterOf } from "./row-filter.js";
import { isRowInPlan } from "./row-in-plan.js";
import type { ReadRow, RowSource } from "./row-reader.js";

/** How many times a row is tested if others change it during the test. */
const maxAttempts = 5;

/** Reads those rows of another source that meet conditions on related rows. */
export class RelatedReader implements RowSource {
  readonly #view: ReadView;
  readonly #plan: Plan;
  readonly #rows: RowSource;
  readonly #filters: OpenFilters;
  readonly #filter: RowFilter | undefined;
  readonly #meter: ReadMeter;
  /** The minimum number of rows that are tested together. It grows if some are left out. */
  #minBatch = 0;

  constructor(
    view: ReadView,
    plan: Plan,
    rows: RowSource,
    filters: OpenFilters,
    query: AnyQuery,
    meter: ReadMeter,
  ) {
    this.#view = view;
    this.#plan = plan;
    this.#rows = rows;
    this.#filters = filters;
    this.#filter = rowFilterOf(view.model, query.filter);
    this.#meter = meter;
  }

  async next(count: number): Promise<ReadRow[]> {
    for (;;) {
      const rows = await this.#rows.next(Math.max(count, this.#minBatch));
      if (rows.length === 0) return [];
      const passed = await this.#pass(rows);
      this.#meter.index = nameOfIndex(this.#plan);
      if (passed.length < rows.length) this.#minBatch = Math.min(rows.length * 2, maxBatch);
      if (passed.length > 0) return passed;
    }
  }

  get lost(): readonly string[] {
    return this.#rows.lost;
  }

  async hasMore(): Promise<boolean> {
    return await this.#rows.hasMore();
  }

  /**
   * Returns the rows that meet the conditions. After the related rows, each of these rows is read
   * once more. If it is still the same, it existed at the time when its related rows were read. If
   * it has changed, it is tested again. In a transaction, the commit checks what was read.
   */
  async #pass(rows: readonly ReadRow[]): Promise<ReadRow[]> {
    const results = new Map<number, ReadRow>();
    let pending = [...rows.entries()];
    for (let attempt = 1; pending.length > 0; attempt++) {
      const passes = await this.#filters.test(pending.map(([, row]) => row));
      const passed = pending.filter((_, i) => passes[i]);
      const current = await this.#readAgain(passed.map(([, row]) => row));
      pending = [];
      for (const [i, [position, row]] of passed.entries()) {
        const now = current[i];
        if (now === row) results.set(position, row);
        else if (now !== undefined) pending.push([position, now]);
      }
      const [changed] = pending;
      if (attempt < maxAttempts || changed === undefined) continue;
      throw new VersionConflictError(
        this.#view.model.name,
        pointerOf(changed[1].primaryKey),
        attempt,
      );
    }
    return [...results].sort(([a], [b]) => a - b).map(([, row]) => row);
  }

  /** Returns each row itself if it has not changed, else the new one if the query has it. */
  async #readAgain(rows: readonly ReadRow[]): Promise<(ReadRow | undefined)[]> {
    if (this.#view.isInTransaction || this.#view.isOneState) return [...rows];
    this.#meter.add(rows.length);
    const entries = await readRows(
      this.#view,
      rows.map(({ primaryKey }) => primaryKey),
    );
    return rows.map((row, i) => {
      const entry = entries[i]!;
      if (entry.versionstamp === row.versionstamp) return row;
      const found = foundRow(this.#view, row.primaryKey, entry);
      if (found === undefined || !isRowInPlan(this.#plan, found)) return undefined;
      if (this.#filter !== undefined && !this.#filter(found.row)) return undefined;
      return { ...found, entryKey: row.entryKey };
    });
  }
}

/** Reads the rows whose keys a condition on related rows finds. */
export class FoundByRelation implements RowSource {
  readonly #view: ReadView;
  readonly #keys: KeySource;
  readonly #filter: RowFilter | undefined;
  readonly #meter: ReadMeter;
  readonly lost: string[] = [];

  constructor(view: ReadView, keys: KeySource, query: AnyQuery, meter: ReadMeter) {
    this.#view = view;
    this.#keys = keys;
    this.#filter = rowFilterOf(view.model, query.filter);
    this.#meter = meter;
  }

  async next(count: number): Promise<ReadRow[]> {
    for (;;) {
      const keys = await this.#keys.next(Math.min(count, maxBatch));
      if (keys.length === 0) return [];
      const rows = await this.#rowsOf(keys);
      if (rows.length > 0) return rows;
    }
  }

  async hasMore(): Promise<boolean> {
    return await this.#keys.hasMore();
  }

  async #rowsOf(primaryKeys: readonly (readonly KvKeyPart[])[]): Promise<ReadRow[]> {
    this.#meter.add(primaryKeys.length);
    const entries = await readRows(this.#view, primaryKeys);
    const rows: ReadRow[] = [];
    for (const [i, primaryKey] of primaryKeys.entries()) {
      const found = foundRow(this.#view, primaryKey, entries[i]!);
      const entryKey = rowKey(this.#view.model, primaryKey);
      if (found === undefined) this.lost.push(keyText(entryKey));
      if (found === undefined || (this.#filter && !this.#filter(found.row))) continue;
      rows.push({ ...found, entryKey });
    }
    return rows;
  }
}
