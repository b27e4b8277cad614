import type { AnyRow } from "../../model/compiled-model.js";
import { copyStored } from "../../model/rows/copy-of-data.js";
import { ownFields } from "../../model/rows/own-fields.js";
import type { AnyHooks } from "../../state/context/database-settings.js";
import type { TableContext } from "../../state/context/table-context.js";
import { TransactionScope } from "../../state/transaction/transaction-scope.js";

const beforeHooks = ["beforeCreate", "beforeUpdate", "beforeDelete"] as const;
const afterHooks = ["afterCreate", "afterUpdate", "afterDelete"] as const;
const duringHooks = ["duringCreate", "duringUpdate", "duringDelete"] as const;

export type DuringHook = (typeof duringHooks)[number];

/** Returns the data that a hook returns, or the data that it may have changed. */
export async function callBeforeHook(
  data: AnyRow,
  call: (data: AnyRow) => unknown,
): Promise<AnyRow> {
  return ((await callHook(() => call(data))) ?? data) as AnyRow;
}

/** Returns a copy of a stored row for a hook: without the fields that the model does not have. */
export function copyOwn({ model }: TableContext, row: AnyRow): AnyRow {
  return copyStored(ownFields(model.schema, row));
}

/** Calls the `beforeDelete` hook of a row's model. The hook forbids the deletion by throwing. */
export async function callBeforeDelete(context: TableContext, row: AnyRow): Promise<void> {
  const hooks = context.settings.hooks[context.model.name];
  if (hooks?.beforeDelete === undefined) return;
  await callHook(() => hooks.beforeDelete?.(copyOwn(context, row)));
}

/**
 * Calls a hook after a write with copies of the rows: at once, or after the commit of the
 * transaction. An error of the hook is thrown by the call that wrote, or by the transaction. The
 * write stays committed.
 */
export async function callAfterHook(
  context: TableContext,
  name: (typeof afterHooks)[number],
  ...rows: readonly AnyRow[]
): Promise<void> {
  const hooks = context.settings.hooks[context.model.name];
  const hook = hooks?.[name] as ((...rows: AnyRow[]) => unknown) | undefined;
  if (hook === undefined) return;
  const copies = rows.map((row) => copyOwn(context, row));
  const call = async () => void (await callHook(() => hook.apply(hooks, copies)));
  if (context.transaction === undefined) await call();
  else context.transaction.afterCommit(call);
}

/**
 * Calls a hook within the transaction that writes the row, with copies of the rows and the
 * repositories of the transaction. Writes of the hook through the database itself are refused,
 * because they would not be part of the transaction.
 */
export async function callDuringHook(
  within: TableContext,
  name: DuringHook,
  rows: readonly AnyRow[],
): Promise<void> {
  const hooks = within.settings.hooks[within.model.name];
  const hook = hooks?.[name] as ((...args: object[]) => unknown) | undefined;
  if (hook === undefined) return;
  const tx = within.settings.databaseWithin?.(tablesOfHook(within.tables)) ?? {};
  const copies = rows.map((row) => copyOwn(within, row));
  const scope = new TransactionScope(within.catalog.database);
  try {
    await scope.run(() => callHook(async () => void (await hook.call(hooks, ...copies, { tx }))));
  } finally {
    scope.end();
  }
}

/** True if writes of a model call a hook within their transaction. */
export function hasDuringHook(context: TableContext): boolean {
  const hooks = context.settings.hooks[context.model.name];
  return hooks !== undefined && duringHooks.some((name) => hooks[name] !== undefined);
}

/** The errors that hooks have thrown. */
const hookErrors = new WeakSet<object>();

/** Calls a hook, and records for {@link isHookError} the error that it throws. */
async function callHook<T>(hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isObject(error)) hookErrors.add(error);
    throw error;
  }
}

/** True if a hook threw an error. Hooks may throw the same classes as the database. */
export function isHookError(error: unknown): boolean {
  // A primitive can only come from a hook, because databases throw objects.
  return !isObject(error) || hookErrors.has(error);
}

function isObject(error: unknown): error is object {
  return (typeof error === "object" && error !== null) || typeof error === "function";
}

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
  const hooks: Record<string, AnyHooks> = Object.create(null);
  for (const [model, each] of models) hooks[model] = catchingHooks(each, errors);
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
  if (hooks.afterRead !== undefined) caught.afterRead = hooks.afterRead.bind(hooks);
  for (const name of duringHooks) caught[name] = hooks[name]?.bind(hooks);
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

type Tables = ReadonlyMap<string, TableContext>;

/**
 * Returns the tables that a hook within a write gets. The tables lack two special rights of the
 * write: a purge sees and removes deleted rows, and an update of many rows may take unique keys
 * from other rows. It stays within the scope of the write. It may write the models that lack the
 * fields of the scope, such as a log.
 */
function tablesOfHook(tables: Tables): Tables {
  const own = new Map<string, TableContext>();
  for (const [name, context] of tables) {
    const { withDeleted: _, purges: __, deferredKeys: ___, markedAt: ____, ...plain } = context;
    own.set(name, { ...plain, tables: own });
  }
  if (![...own.values()].some(({ isOutside }) => isOutside)) return own;
  const all = new Map<string, TableContext>(own);
  for (const [name, context] of own) {
    if (context.isOutside) all.set(name, { ...context, isOutside: undefined, tables: all });
  }
  return all;
}
