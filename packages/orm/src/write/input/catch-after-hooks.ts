import type { AnyHooks } from "../../context/database-settings.js";
import type { TableContext } from "../../context/table-context.js";

/** The errors of hooks that were called after a write, and the context that collects them. */
export interface CaughtErrors {
  /** Empty if no hook has thrown. */
  readonly errors: unknown[];
  /** The same table, with `after` hooks that do not throw. */
  readonly context: TableContext;
}

/**
 * True if writes of a context call `after` hooks before they return. Within a transaction, these
 * hooks wait for its commit.
 */
export function callsAfterHooks({ settings, transaction }: TableContext): boolean {
  return transaction === undefined && Object.values(settings.hooks).some(hasAfterHook);
}

/**
 * Returns a context in which errors of `after` hooks are collected and not thrown, so that only a
 * failed write throws. This covers the hooks of all models, because a delete may cascade to them.
 */
export function catchAfterHooks(context: TableContext): CaughtErrors {
  const errors: unknown[] = [];
  const hooks = Object.fromEntries(
    Object.entries(context.settings.hooks).map(([model, modelHooks]) => [
      model,
      catchingHooks(modelHooks, errors),
    ]),
  );
  const settings = { ...context.settings, hooks };
  const tables = new Map<string, TableContext>();
  for (const [name, table] of context.tables) tables.set(name, { ...table, settings, tables });
  return { errors, context: { ...context, settings, tables } };
}

function hasAfterHook({ afterCreate, afterUpdate, afterDelete }: AnyHooks): boolean {
  return afterCreate !== undefined || afterUpdate !== undefined || afterDelete !== undefined;
}

function catchingHooks(hooks: AnyHooks, errors: unknown[]): AnyHooks {
  const { beforeCreate, beforeUpdate, beforeDelete } = hooks;
  const { afterCreate, afterUpdate, afterDelete } = hooks;
  const guarded =
    <Rows extends unknown[]>(hook: (...rows: Rows) => unknown) =>
    async (...rows: Rows): Promise<void> => {
      try {
        await hook.apply(hooks, rows);
      } catch (error) {
        errors.push(error);
      }
    };
  return {
    ...(beforeCreate && { beforeCreate: beforeCreate.bind(hooks) }),
    ...(beforeUpdate && { beforeUpdate: beforeUpdate.bind(hooks) }),
    ...(beforeDelete && { beforeDelete: beforeDelete.bind(hooks) }),
    ...(afterCreate && { afterCreate: guarded(afterCreate) }),
    ...(afterUpdate && { afterUpdate: guarded(afterUpdate) }),
    ...(afterDelete && { afterDelete: guarded(afterDelete) }),
  };
}
