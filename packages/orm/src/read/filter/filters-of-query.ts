import type { CompiledModel } from "../../model/compiled-model.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type {
  ExplainedRelation,
  OpenFilters,
  RelatedFilters,
  RelatedRow,
} from "../../state/context/open-filters.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { RelatedModel } from "../../state/context/table-context.js";
import { hashOf } from "../../state/schema/manifests/hash.js";
import { explainFilter } from "./explain-filter.js";
import { unservedFilter, unservedSearch } from "./filter-errors.js";
import { type FilterPlan, planFilter } from "./filter-plan.js";
import { OpenFilter } from "./open-filter.js";
import type { RelatedFilter } from "./related-filter.js";

/** Plans, and the snapshots of the catalogs by which they were made. */
interface Planned {
  readonly view: ReadView;
  readonly snapshots: readonly CatalogSnapshot[];
  readonly plans: readonly FilterPlan[];
}

/** The conditions of a query on related rows. A row must meet all of them. */
export class Filters implements RelatedFilters {
  readonly id: string;
  readonly #filters: readonly RelatedFilter[];
  #planned: Planned | undefined;

  constructor(filters: readonly RelatedFilter[], id: string) {
    this.#filters = filters;
    this.id = id;
  }

  /** Returns the conditions of both, in the order of the model's relations. */
  and(context: RelatedModel, other: Filters): Filters {
    const names = [...context.links.relations.keys()];
    const filters = [...this.#filters, ...other.#filters].sort(
      (a, b) => names.indexOf(a.link.name) - names.indexOf(b.link.name),
    );
    return new Filters(filters, hashOf([this.id, other.id]));
  }

  get models(): readonly CompiledModel[] {
    return this.#filters.flatMap(({ link, query }) => [
      link.target,
      ...(link.through === undefined ? [] : [link.through]),
      ...(query?.related?.models ?? []),
    ]);
  }

  canFind(view: ReadView): boolean {
    return this.#plans(view).some(({ find }) => find !== undefined);
  }

  assertServed(view: ReadView, isFinding: boolean): void {
    const plans = this.#plans(view);
    if (isFinding && !plans.some(({ find }) => find !== undefined)) {
      throw unservedSearch(view, this.#filters, plans);
    }
    for (const [i, filter] of this.#filters.entries()) {
      const { test, error } = plans[i]!;
      if (test === undefined) throw unservedFilter(view, filter, error);
    }
  }

  open(view: ReadView, meter: ReadMeter): OpenFilters {
    const plans = this.#plans(view);
    const open = this.#filters.map((each, i) => new OpenFilter(view, each, plans[i]!, meter));
    return {
      keysAfter: (after, reverse) => open[finding(plans)]!.keysAfter(after, reverse),
      test: (rows) => testAll(open, rows),
    };
  }

  explain(view: ReadView, isFinding: boolean): readonly ExplainedRelation[] {
    const plans = this.#plans(view);
    const first = isFinding ? finding(plans) : undefined;
    return this.#filters.flatMap((filter, i) =>
      explainFilter(view, filter, plans[i]!, i === first),
    );
  }

  /** Returns the plans of the conditions. They are made again only if a catalog has changed. */
  #plans(view: ReadView): readonly FilterPlan[] {
    const snapshots = [view.snapshot, ...this.models.map((model) => view.of(model).snapshot)];
    const planned = this.#planned;
    const isCurrent =
      planned?.view === view && planned.snapshots.every((each, i) => each === snapshots[i]);
    if (isCurrent) return planned.plans;
    const plans = this.#filters.map((filter) => planFilter(view, filter));
    this.#planned = { view, snapshots, plans };
    return plans;
  }
}

/** Returns the conditions that a row meets if it meets all of some. Undefined if there are none. */
export function allFilters(
  context: RelatedModel,
  list: readonly RelatedFilters[],
): RelatedFilters | undefined {
  const [first, ...others] = list as readonly Filters[];
  return others.reduce((all, each) => all?.and(context, each), first);
}

/** Returns the position of the condition that finds rows: the first that can be walked. */
function finding(plans: readonly FilterPlan[]): number {
  const walked = plans.findIndex(({ find }) => find === "walk");
  return walked >= 0 ? walked : plans.findIndex(({ find }) => find === "collect");
}

/** Tests rows with each condition. A row that does not meet one is not tested with the next. */
async function testAll(
  filters: readonly OpenFilter[],
  rows: readonly RelatedRow[],
): Promise<boolean[]> {
  const results = rows.map(() => true);
  for (const filter of filters) {
    const positions = [...results.keys()].filter((i) => results[i]);
    const passes = await filter.test(positions.map((i) => rows[i]!));
    for (const [i, position] of positions.entries()) results[position] = passes[i] === true;
  }
  return results;
}
