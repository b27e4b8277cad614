import type { TableContext } from "../../context/table-context.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { Reference } from "../../model/linked-relations.js";
import { tableOfModel } from "../../relations/referrers.js";

/** What the deletion of a row may come to, whatever rows there are. */
export interface CascadeReach {
  /** The tables whose rows it may delete or change: that of the row, and of those who refer to it and go or are cleared. */
  readonly written: ReadonlySet<TableContext>;
  /** The references by which it looks for rows. */
  readonly references: readonly Reference[];
}

/** What the deletion of a row of a model may come to. */
export function cascadeReach(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
): CascadeReach {
  const deleted = new Set([tableOfModel(tables, model)]);
  const cleared = new Set<TableContext>();
  const references: Reference[] = [];
  // The set grows while it is gone through.
  for (const { links } of deleted) {
    for (const reference of links.referencedBy) {
      const table = tableOfModel(tables, reference.model);
      references.push(reference);
      if (reference.onDelete === "cascade") deleted.add(table);
      else if (reference.onDelete === "setNull") cleared.add(table);
    }
  }
  return { written: new Set([...deleted, ...cleared]), references };
}
