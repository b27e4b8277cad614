import type { KvKeyPart } from "@keywright/core";
import { primaryKeyOf } from "../../model/keys/primary-key.js";
import type { OpenFilters, RelatedRow } from "../../state/context/open-filters.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { rowIdOf } from "../../state/references/referenced-key.js";
import type { KeyId } from "../../state/transaction/buffer/key-id.js";
import { maxBatch } from "../find/entries/entry-reader.js";
import { rowSourceOf } from "../find/find-rows.js";
import { isRowInPlan } from "../find/rows/row-in-plan.js";
import { readRowsByKey } from "../include/rows-by-key.js";
import { choosePlan, plansOf } from "../plan/choose-plan.js";
import type { Plan } from "../plan/ranges/query-plan.js";
import type { RelatedConditions } from "./related-filter.js";

/** The rows of a model that may meet some conditions. */
export class RelatedRows {
  readonly view: ReadView;
  readonly #query: RelatedConditions | undefined;
  readonly #meter: ReadMeter;
  #plan: Plan | undefined;
  readonly #nested: OpenFilters | undefined;

  /** @param query undefined if every row meets the conditions. */
  constructor(view: ReadView, query: RelatedConditions | undefined, meter: ReadMeter) {
    this.view = view;
    this.#query = query;
    this.#meter = meter;
    this.#nested = query?.related?.open(view, meter);
  }

  /** Returns for each row whether it meets the conditions. */
  async match(rows: readonly RelatedRow[]): Promise<boolean[]> {
    const { where = {} } = this.#query ?? {};
    if (Object.keys(where).length > 0) this.#plan ??= plansOf(this.view, { where })[0]!;
    const plan = this.#plan;
    const matches = rows.map((row) => plan === undefined || isRowInPlan(plan, row));
    const positions = [...matches.keys()].filter((i) => matches[i]);
    const nested = await this.matchNested(positions.map((i) => rows[i]!));
    for (const [i, position] of positions.entries()) matches[position] = nested[i] === true;
    return matches;
  }

  /** The same for rows that meet the conditions on their own fields. */
  async matchNested(rows: readonly RelatedRow[]): Promise<readonly boolean[]> {
    return this.#nested === undefined ? rows.map(() => true) : await this.#nested.test(rows);
  }

  /** Returns for each key whether there is such a row and it meets the conditions. */
  async matchKeys(keys: readonly (readonly KvKeyPart[] | undefined)[]): Promise<boolean[]> {
    const { model } = this.view;
    const wanted = keys.filter((key) => key !== undefined);
    const found = [...(await readRowsByKey(this.view, wanted, this.#meter)).entries()];
    const rows = found.map(([, row]) => ({ primaryKey: primaryKeyOf(model, row), row }));
    const matches = await this.match(rows);
    const matching = new Set<KeyId>(found.filter((_, i) => matches[i]).map(([id]) => id));
    return keys.map((key) => key !== undefined && matching.has(rowIdOf(model, key)));
  }

  /**
   * Yields the rows that meet the conditions, found by an index.
   *
   * @param onLost is called with the key of each entry that led to no row.
   */
  async *find(onLost: (key: string) => void): AsyncGenerator<RelatedRow> {
    const query = { ...this.#query, forWrite: true };
    const chosen = await choosePlan(this.view, query);
    const source = rowSourceOf(this.view, chosen, query, this.#meter, false);
    for (;;) {
      const rows = await source.next(maxBatch);
      if (rows.length === 0) break;
      yield* rows;
    }
    for (const key of source.lost) onLost(key);
  }
}
