import type { AnyHooks } from "../../context/database-settings.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";

const beforeHooks = ["beforeCreate", "beforeUpdate", "beforeDelete"] as const;
const afterHooks = ["afterCreate", "afterUpdate", "afterDelete"] as const;

/**
 * Returns a context in which errors of `after` hooks are collected and not thrown, so that only a
 * failed write throws. This covers the hooks of all models, because a delete may cascade to them.
 *
 * @returns undefined if writes of the context call no such hooks before they return. Within a
 * transaction, these hooks wait for its commit.
 */
export function catchAfterHooks(
  context: TableContext,
): { readonly errors: readonly unknown[]; readonly context: TableContext } | undefined {
  const models = Object.entries(context.settings.hooks);
  if (context.transaction !== undefined || !models.some(([, each]) => hasAfterHook(each))) {
    return undefined;
  }
  const errors: unknown[] = [];
  const hooks = Object.fromEntries(
    models.map(([model, each]) => [model, catchingHooks(each, errors)]),
  );
  const settings = { ...context.settings, hooks };
  const tables = new Map<string, TableContext>();
  for (const [name, table] of context.tables) tables.set(name, { ...table, settings, tables });
  return { errors, context: { ...context, settings, tables } };
}

function hasAfterHook(hooks: AnyHooks): boolean {
  return afterHooks.some((name) => hooks[name] !== undefined);
}

function catchingHooks(hooks: AnyHooks, errors: unknown[]): AnyHooks {
  const caught: Record<string, unknown> = {};
  for (const name of beforeHooks) caught[name] = hooks[name]?.bind(hooks);
  for (const name of afterHooks) {
    const hook = hooks[name] as ((...rows: AnyRow[]) => unknown) | undefined;
    if (hook === undefined) continue;
    caught[name] = async (...rows: AnyRow[]): Promise<void> => {
      try {
        await hook.apply(hooks, rows);
      } catch (error) {
        errors.push(error);
      }
    };
  }
  return caught;
}
