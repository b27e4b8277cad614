import type { TableContext } from "./table-context.js";

type Tables = ReadonlyMap<string, TableContext>;

/**
 * Returns the tables that a hook within a write gets. A purge sees rows that are marked as deleted
 * and removes them, and an update of many rows may take unique keys from others: the hook does not.
 * It stays within the scope of the write. It may write the models that lack the fields of the
 * scope, such as a log.
 */
export function tablesOfHook(tables: Tables): Tables {
  const own = new Map<string, TableContext>();
  for (const [name, context] of tables) {
    const { withDeleted: _, purges: __, unsettledKeys: ___, markedAt: ____, ...plain } = context;
    own.set(name, { ...plain, tables: own });
  }
  if (![...own.values()].some(({ isOutside }) => isOutside)) return own;
  const all = new Map<string, TableContext>(own);
  for (const [name, context] of own) {
    if (context.isOutside) all.set(name, { ...context, isOutside: undefined, tables: all });
  }
  return all;
}
