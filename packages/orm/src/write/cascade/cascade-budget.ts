import { costOfChange } from "../../derived/plan-derived.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { TableLimits } from "../../state/context/model-store.js";
import type { TableContext } from "../../state/context/table-context.js";

/** The maximum number of rows that one commit deletes or changes. */
export const maxRowsPerCommit = 1000;

/**
 * Counts what a commit of several rows contains, and limits it. The count is an estimate: the
 * commit may turn out larger, and the database may refuse it.
 */
export class CascadeBudget {
  readonly #limits: Pick<TableLimits, "checks" | "mutations">;
  readonly #maxRows: number;
  readonly #models = new Set<CompiledModel>();
  #rows = 0;
  #checks = 0;
  #mutations = 0;

  constructor(limits: Pick<TableLimits, "checks" | "mutations">, maxRows: number) {
    this.#limits = limits;
    this.#maxRows = maxRows;
  }

  get rows(): number {
    return this.#rows;
  }

  /**
   * Adds a row that will be deleted or changed, if it fits. The first row always fits.
   *
   * @returns true if the row was added.
   */
  add(context: TableContext): boolean {
    const { model, links } = context;
    const derived = costOfChange(context);
    const isReferenced = links.referencedBy.length > 0;
    // The row, its guard and, once, the catalog entry of its model.
    const own = 1 + (isReferenced ? 1 : 0) + (this.#models.has(model) ? 0 : 1);
    const checks = own + derived.checks;
    const mutations = 2 + derived.writes + (isReferenced ? 2 : 0);
    const fits =
      this.#rows < this.#maxRows &&
      this.#checks + checks <= this.#limits.checks &&
      this.#mutations + mutations <= this.#limits.mutations;
    if (this.#rows > 0 && !fits) return false;
    this.#rows++;
    this.#checks += checks;
    this.#mutations += mutations;
    this.#models.add(model);
    return true;
  }
}
