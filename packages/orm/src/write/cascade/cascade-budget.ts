import type { TableContext, TableLimits } from "../../context/table-context.js";
import type { CompiledModel } from "../../model/compiled-model.js";

/** How much a commit of several rows takes up, and how much it may. It is an estimate: a commit may turn out larger. */
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

  /** Rows that were added. */
  get rows(): number {
    return this.#rows;
  }

  /** Adds a row that is deleted or changed, where it fits. The first always fits. */
  add({ model, links }: TableContext): boolean {
    const unique = model.indexes.filter((index) => index.unique).length;
    const isReferred = links.referencedBy.length > 0;
    // Its own versionstamp, its unique entries, its guard, and its model's catalog entry.
    const checks = 1 + unique + (isReferred ? 1 : 0) + (this.#models.has(model) ? 0 : 1);
    const marks = model.live ? 1 + model.indexes.length : 0;
    const counts = (model.counted ? 1 : 0) + model.indexes.filter((index) => index.counted).length;
    const mutations = 2 + 2 * model.indexes.length + marks + 2 * counts + (isReferred ? 2 : 0);
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
