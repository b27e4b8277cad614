import type { TableContext } from "../../state/context/table-context.js";

/** Returns a context whose reads of this model also return rows that are marked as deleted. */
export function withDeletedRows(context: TableContext): TableContext {
  return { ...context, withDeleted: true };
}

/**
 * Returns a context in which a delete removes rows of this model that are marked as deleted. For
 * other models, a delete does the same as always.
 */
export function purgingContext(context: TableContext): TableContext {
  const tables = new Map(context.tables);
  const purging: TableContext = { ...context, withDeleted: true, purges: true, tables };
  for (const [name, table] of tables) tables.set(name, { ...table, tables });
  tables.set(context.model.name, purging);
  return purging;
}
