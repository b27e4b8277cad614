import { encodeKey, type KvKey, type KvKeyPart } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import type { AnyQuery } from "../../../state/context/any-query.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { keyOfSortParts, sortPartsOf } from "../../plan/merge-plans.js";
import {
  findSegment,
  type MergedPlan,
  nameOfIndex,
  prefixOf,
  type QueryPlan,
  readsWholeKeys,
} from "../../plan/ranges/query-plan.js";
import { type ReadRow, RowReader, type RowSource } from "../rows/row-reader.js";

interface Sorted {
  readonly row: ReadRow;
  readonly bytes: Uint8Array;
}

/** The rows of one plan that were read and not returned yet. */
interface Source {
  readonly plan: QueryPlan;
  readonly reader: RowReader;
  readonly rows: Sorted[];
  isDone: boolean;
}

/**
 * Reads the rows of several plans in their common order. A row that several plans have is returned
 * once.
 */
export class MergedReader implements RowSource {
  readonly #plan: MergedPlan;
  readonly #meter: ReadMeter;
  readonly #sources: readonly Source[];
  /** The place in the order of the last row that was returned. */
  #last: Uint8Array | undefined;

  /** @param after the parts by which the last row of an earlier page is sorted. */
  constructor(
    view: ReadView,
    plan: MergedPlan,
    after: readonly KvKeyPart[] | undefined,
    query: AnyQuery,
    meter: ReadMeter,
  ) {
    this.#plan = plan;
    this.#meter = meter;
    this.#last = after && this.#bytesOf(after);
    this.#sources = plan.merged.map((each) => {
      const key = after && !readsWholeKeys(each) ? keyOfSortParts(each, after) : undefined;
      const isWithin = key !== undefined && findSegment(each, key) >= 0;
      const chosen = { plan: each, after: isWithin ? key : undefined };
      const reader = new RowReader(view, chosen, query, meter, false);
      const isDone = key !== undefined && !isWithin && this.#isPast(each, key);
      return { plan: each, reader, rows: [], isDone };
    });
    meter.index = nameOfIndex(plan);
  }

  async next(count: number): Promise<ReadRow[]> {
    const rows: ReadRow[] = [];
    const batch = Math.ceil(count / this.#sources.length);
    while (rows.length < count) {
      const first = await this.#first(batch);
      if (first === undefined) break;
      this.#last = first.bytes;
      rows.push(first.row);
    }
    return rows;
  }

  get lost(): readonly string[] {
    return this.#sources.flatMap(({ reader }) => reader.lost);
  }

  async hasMore(): Promise<boolean> {
    // A source that was not read to its end may have more rows, but none can be read any more.
    if (this.#meter.left < 2 && this.#sources.some(({ isDone }) => !isDone)) return true;
    return (await this.#first(1)) !== undefined;
  }

  /**
   * Returns the first row of all sources that comes after the last one. Leaves it in its source.
   */
  async #first(batch: number): Promise<Sorted | undefined> {
    let first: Sorted | undefined;
    for (const source of this.#sources) {
      await this.#fill(source, batch);
      const [next] = source.rows;
      if (next !== undefined && (first === undefined || this.#isBefore(next, first.bytes))) {
        first = next;
      }
    }
    return first;
  }

  /** Removes rows that were returned, and reads the next ones if none is left. */
  async #fill(source: Source, batch: number): Promise<void> {
    for (;;) {
      const next = source.rows.findIndex((row) => this.#isNew(row));
      source.rows.splice(0, next < 0 ? source.rows.length : next);
      if (source.rows.length > 0 || source.isDone) return;
      const rows = await source.reader.next(batch);
      source.isDone = rows.length === 0;
      for (const row of rows) {
        const parts = sortPartsOf(source.plan, row, row.entryKey);
        const sorted = withEntryKey(row, [this.#plan.model.place, ...parts]);
        source.rows.push({ row: sorted, bytes: this.#bytesOf(parts) });
      }
    }
  }

  /** True if all keys of a plan's segment come before a key in the reading direction. */
  #isPast(plan: QueryPlan, key: KvKey): boolean {
    const [segment] = plan.segments;
    const { start, end } = segment?.interval ?? {};
    const bound = plan.reverse ? start : end;
    if (segment === undefined || bound === undefined) return false;
    const difference = Buffer.compare(
      this.#bytesOf(key),
      this.#bytesOf([...prefixOf(plan, segment), bound]),
    );
    return plan.reverse ? difference < 0 : difference >= 0;
  }

  #isNew({ bytes }: Sorted): boolean {
    const last = this.#last;
    if (last === undefined) return true;
    const difference = Buffer.compare(bytes, last);
    return this.#plan.reverse ? difference < 0 : difference > 0;
  }

  #isBefore({ bytes }: Sorted, other: Uint8Array): boolean {
    const difference = Buffer.compare(bytes, other);
    return this.#plan.reverse ? difference > 0 : difference < 0;
  }

  #bytesOf(parts: readonly KvKeyPart[]): Uint8Array {
    return encodeKey([...parts], this.#plan.model.keyOrder);
  }
}

function withEntryKey(
  { row, primaryKey, versionstamp, expireAt }: ReadRow,
  entryKey: KvKey,
): ReadRow {
  return { row, primaryKey, versionstamp, expireAt, entryKey };
}
