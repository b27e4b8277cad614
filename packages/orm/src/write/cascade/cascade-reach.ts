import type { TableContext } from "../../context/table-context.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { Reference } from "../../model/linked-relations.js";
import { tableOfModel } from "../../relations/referrers.js";

/** The tables and references that the deletion of a row may involve, whatever rows exist. */
export interface CascadeReach {
  /**
   * The tables whose rows may be deleted or changed: that of the row, and those of the rows that
   * are deleted or cleared with it.
   */
  readonly written: ReadonlySet<TableContext>;
  /** The references by which the deletion searches for rows. */
  readonly references: readonly Reference[];
}

/** Returns what the deletion of a row of a model may involve. */
export function cascadeReach(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
): CascadeReach {
  const deleted = new Set([tableOfModel(tables, model)]);
  const cleared = new Set<TableContext>();
  const references: Reference[] = [];
  // The loop also visits the tables that it adds to the set.
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
