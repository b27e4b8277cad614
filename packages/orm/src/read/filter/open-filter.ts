import type { KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { keyPartOf } from "../../model/keys/key-parts.js";
import type { BelongsTo, ManyToMany } from "../../model/relations/relation-definition.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { KeySource, RelatedRow } from "../../state/context/open-filters.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { referencedKey } from "../../state/references/referenced-key.js";
import { readCountOfEach } from "../aggregate/count-each.js";
import { maySkipEntries } from "../find/entries/walk-ranges.js";
import { readRelated } from "../include/read-related.js";
import { keyFields } from "../plan/fields/key-fields.js";
import { mayRepeat, readsMarkedRows } from "../plan/ranges/query-plan.js";
import { collectKeys } from "./collect-keys.js";
import type { CollectedKeys } from "./collected-keys.js";
import type { FilterPlan } from "./filter-plan.js";
import { haveEntries } from "./have-entries.js";
import { KeyWalk } from "./key-walk.js";
import { listMatching } from "./list-matching.js";
import { maxAttempts } from "./read-whole.js";
import type { RelatedFilter } from "./related-filter.js";
import { RelatedRows } from "./related-rows.js";
import { countScoped } from "./walked-index.js";

type PrimaryKey = readonly KvKeyPart[];

/** The reads of one condition on related rows, for one query. */
export class OpenFilter {
  readonly #view: ReadView;
  readonly #filter: RelatedFilter;
  readonly #plan: FilterPlan;
  readonly #meter: ReadMeter;
  readonly #related: RelatedRows;
  #matching: Promise<readonly RelatedRow[]> | undefined;
  #collected: Promise<CollectedKeys> | undefined;
  /** True if only rows are tested that the condition has found, by entries that are enough. */
  #isMet = false;

  constructor(view: ReadView, filter: RelatedFilter, plan: FilterPlan, meter: ReadMeter) {
    this.#view = view;
    this.#filter = filter;
    this.#plan = plan;
    this.#meter = meter;
    const target = view.of(filter.link.target);
    this.#related = new RelatedRows(target, filter.query, meter);
  }

  /** Returns for each row whether it meets the condition. */
  async test(rows: readonly RelatedRow[]): Promise<boolean[]> {
    if (rows.length === 0) return [];
    if (this.#isMet) return rows.map(() => true);
    const { relation } = this.#filter.link;
    const found =
      this.#plan.test === "collect"
        ? await this.#testCollected(rows)
        : relation.kind === "belongsTo"
          ? await this.#testReferences(rows, relation)
          : relation.kind === "manyToMany"
            ? await this.#testThrough(rows, relation)
            : await this.#testReferring(rows, relation.fields);
    return found.map((isFound) => isFound !== this.#filter.isNegated);
  }

  /** Returns the keys of the rows that may meet the condition, in their order. */
  keysAfter(after: PrimaryKey | undefined, reverse: boolean): KeySource {
    this.#isMet = this.#plan.find === "walk" && this.#areEntriesEnough();
    let source: Promise<KeySource> | undefined;
    const open = async () => {
      if (this.#plan.find === "walk") return await this.#walk(after, reverse);
      const { keyOrder } = this.#view.model;
      return (await this.#collect()).keysAfter(after, reverse, keyOrder);
    };
    const opened = () => (source ??= open());
    return {
      next: async (count) => await (await opened()).next(count),
      hasMore: async () => await (await opened()).hasMore(),
    };
  }

  /**
   * True if the index entries alone show which rows meet the condition, without a read of the rows:
   * entries and rows are read from one state, and each entry has a related row.
   */
  #areEntriesEnough(): boolean {
    const { link, query } = this.#filter;
    const { walked } = this.#plan;
    const isReferring = link.relation.kind === "hasMany" || link.relation.kind === "hasOne";
    if (walked === undefined || !isReferring || query?.related !== undefined) return false;
    const table = this.#walkedTable();
    if (!this.#view.isOneState || this.#view.isInTransaction) return false;
    return !mayRepeat(walked) && !readsMarkedRows(table, walked.index);
  }

  async #walk(after: PrimaryKey | undefined, reverse: boolean): Promise<KeyWalk> {
    const { index = undefined, segments = [] } = this.#plan.walked ?? {};
    const { link, query } = this.#filter;
    const { relation } = link;
    const isReferring = relation.kind === "hasMany" || relation.kind === "hasOne";
    // The related rows that meet the condition are the values of the first fields of the index.
    const prefixes =
      isReferring || query === undefined
        ? segments.map(({ equals }) => equals)
        : (await this.#matchingRows()).map(({ primaryKey }) => this.#prefixOf(primaryKey));
    const table = this.#walkedTable();
    const { scope = {} } = table;
    const fields =
      relation.kind === "belongsTo"
        ? this.#view.model.primaryKey
        : relation.kind === "manyToMany"
          ? relation.from
          : relation.fields;
    const scoped = fields.slice(0, countScoped(scope, fields));
    const start = scoped.map((field) => keyPartOf(scope[field])!);
    const walked = { index, prefixes, start, restLength: fields.length - scoped.length };
    return new KeyWalk(table, walked, after, reverse, this.#meter);
  }

  /** Returns the first parts of the walked keys that lead from a related row. */
  #prefixOf(primaryKey: PrimaryKey): KvKeyPart[] {
    const { relation } = this.#filter.link;
    const fields = relation.kind === "manyToMany" ? relation.to : (relation as BelongsTo).fields;
    const { model, scope = {} } = this.#walkedTable();
    const { index = undefined, segments = [] } = this.#plan.walked ?? {};
    return keyFields(model, index)
      .slice(0, segments[0]?.equals.length)
      .map(({ name, partOf }) => {
        const position = fields.indexOf(name);
        return partOf(position < 0 ? scope[name] : primaryKey[position]);
      });
  }

  /** Returns the table whose keys lead from related rows to rows. */
  #walkedTable(): ReadView {
    const { relation, target, through } = this.#filter.link;
    if (relation.kind === "belongsTo") return this.#view;
    const model = relation.kind === "manyToMany" ? (through ?? target) : target;
    return this.#view.of(model);
  }

  /** Returns the related rows that meet the condition, read once. */
  #matchingRows(): Promise<readonly RelatedRow[]> {
    this.#matching ??= listMatching(this.#view.model, this.#filter, this.#related);
    return this.#matching;
  }

  #collect(): Promise<CollectedKeys> {
    this.#collected ??= collectKeys({
      view: this.#view,
      filter: this.#filter,
      table: this.#walkedTable(),
      related: this.#related,
      matchingRows: () => this.#matchingRows(),
      meter: this.#meter,
    });
    return this.#collected;
  }

  /** If all related rows of a row have changed since they were collected, collects them again. */
  async #testCollected(rows: readonly RelatedRow[]): Promise<boolean[]> {
    const results = rows.map(() => false);
    let pending = [...rows.keys()];
    for (let attempt = 1; pending.length > 0; attempt++) {
      const collected = await this.#collect();
      const tested = await collected.test(pending.map((position) => rows[position]!));
      for (const [i, position] of pending.entries()) results[position] = tested[i] === true;
      pending = pending.filter((_, i) => tested[i] === undefined);
      if (attempt === maxAttempts) break;
      if (pending.length > 0) this.#collected = undefined;
    }
    return results;
  }

  async #testReferences(rows: readonly RelatedRow[], { fields }: BelongsTo): Promise<boolean[]> {
    return await this.#related.matchKeys(rows.map(({ row }) => referencedKey(fields, row)));
  }

  async #testReferring(rows: readonly RelatedRow[], fields: readonly string[]): Promise<boolean[]> {
    const { where, related } = this.#filter.query ?? {};
    // Other writers change a counter more often than the entry that a transaction finds.
    if (related === undefined && !this.#view.isInTransaction) {
      const { primaryKey } = this.#view.model;
      const values = rows.map(({ row }) => primaryKey.map((field) => row[field]));
      const queries = { fields, values, where: where ?? {} };
      const counts = await readCountOfEach(this.#walkedTable(), queries, this.#meter);
      if (counts !== undefined) return counts.map((count) => count > 0);
      const table = this.#walkedTable();
      const existing = maySkipEntries(table, this.#meter)
        ? await haveEntries(table, queries, this.#meter)
        : undefined;
      if (existing !== undefined) return existing;
    }
    const accept = (found: readonly FoundRow[]) => this.#related.matchNested(found);
    return await this.#existing(rows, fields, where, accept);
  }

  async #testThrough(rows: readonly RelatedRow[], { from, to }: ManyToMany): Promise<boolean[]> {
    const [field] = to;
    let condition: AnyRow = {};
    if (this.#filter.query !== undefined && field !== undefined) {
      const matching = await this.#matchingRows();
      if (matching.length === 0) return rows.map(() => false);
      condition = { [field]: { in: matching.map(({ primaryKey }) => primaryKey[0]) } };
    }
    // The rows between may lead to rows that have changed since.
    const accept = (found: readonly FoundRow[]) =>
      this.#related.matchKeys(found.map(({ row }) => referencedKey(to, row)));
    return await this.#existing(rows, from, condition, accept);
  }

  /**
   * Returns for each row whether one that refers to it is accepted.
   *
   * @param fields those that hold the primary key of the row.
   * @param where further conditions.
   */
  async #existing(
    rows: readonly RelatedRow[],
    fields: readonly string[],
    where: AnyRow | undefined,
    accept: (found: readonly FoundRow[]) => Promise<readonly boolean[]>,
  ): Promise<boolean[]> {
    const table = this.#walkedTable();
    const { primaryKey } = this.#view.model;
    const results = rows.map(() => false);
    let pending = [...rows.keys()];
    for (let attempt = 1; pending.length > 0; attempt++) {
      const lost = new Set<number>();
      const values = pending.map((position) =>
        primaryKey.map((field) => rows[position]!.row[field]),
      );
      const found = await readRelated<true>(
        table,
        { query: { where }, fields, values, take: 1 },
        async (read) => {
          const accepted = await accept(read.map(({ row }) => row));
          return accepted.map((isAccepted) => (isAccepted ? true : undefined));
        },
        this.#meter,
        (query) => lost.add(query),
      );
      for (const [i, position] of pending.entries()) results[position] = found[i]!.length > 0;
      // An entry that leads to no row may have been moved, past the place that is read next.
      pending = pending.filter((position, i) => !results[position] && lost.has(i));
      if (attempt === maxAttempts) break;
    }
    return results;
  }
}
