import type { AnyHooks } from "../../context/database-settings.js";
import type { TableContext } from "../../context/table-context.js";

/** What hooks threw that were called after a write. */
export interface CaughtErrors {
  /** Empty where all went well. */
  readonly errors: unknown[];
  /** The same table, whose hooks after a write do not throw. */
  readonly context: TableContext;
}

/** Whether hooks are called after writes of a context, before those end: within a transaction they wait for its commit. */
export function callsAfterHooks({ settings, transaction }: TableContext): boolean {
  return transaction === undefined && Object.values(settings.hooks).some(hasAfterHook);
}

/**
 * A context in which the write of a row is told from what comes behind it: what a hook after the write throws is kept
 * instead of thrown, also where the row is deleted together with others, of whatever model.
 */
export function catchAfterHooks(context: TableContext): CaughtErrors {
  const errors: unknown[] = [];
  const hooks = Object.fromEntries(
    Object.entries(context.settings.hooks).map(([model, own]) => [model, caught(own, errors)]),
  );
  const settings = { ...context.settings, hooks };
  const tables = new Map<string, TableContext>();
  for (const [name, table] of context.tables) tables.set(name, { ...table, settings, tables });
  return { errors, context: { ...context, settings, tables } };
}

function hasAfterHook({ afterCreate, afterUpdate, afterDelete }: AnyHooks): boolean {
  return afterCreate !== undefined || afterUpdate !== undefined || afterDelete !== undefined;
}

function caught(hooks: AnyHooks, errors: unknown[]): AnyHooks {
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
