import { copyStored } from "../../context/copy-of-data.js";
import type { AnyHooks } from "../../context/database-settings.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";

export function hooksOf({ model, settings }: TableContext): AnyHooks | undefined {
  return Object.hasOwn(settings.hooks, model.name) ? settings.hooks[model.name] : undefined;
}

/**
 * Calls a hook before a write with the data, which the hook may change. Returns the data that the
 * hook returns, or the same data if it returns nothing.
 */
export async function callBeforeHook(
  data: AnyRow,
  call: (data: AnyRow) => unknown,
): Promise<AnyRow> {
  return ((await callHook(() => call(data))) ?? data) as AnyRow;
}

/** Calls the `beforeDelete` hook of a row's model. The hook forbids the delete by throwing. */
export async function callBeforeDelete(context: TableContext, row: AnyRow): Promise<void> {
  const hooks = hooksOf(context);
  if (hooks?.beforeDelete === undefined) return;
  await callHook(() => hooks.beforeDelete?.(copyStored(row)));
}

/**
 * Calls a hook after a write with copies of the rows: at once, or after the commit of the
 * transaction. An error of the hook is thrown by the call that wrote, or by the transaction. The
 * write stays committed.
 */
export async function callAfterHook(
  context: TableContext,
  name: "afterCreate" | "afterUpdate" | "afterDelete",
  ...rows: readonly AnyRow[]
): Promise<void> {
  const hooks = hooksOf(context);
  const hook = hooks?.[name] as ((...rows: AnyRow[]) => unknown) | undefined;
  if (hook === undefined) return;
  const copies = rows.map((row) => copyStored(row));
  const call = async () => {
    await callHook(() => hook.apply(hooks, copies));
  };
  if (context.transaction === undefined) await call();
  else context.transaction.afterCommit(call);
}

/** The errors that hooks have thrown. */
const hookErrors = new WeakSet<object>();

/** Calls a hook. If it throws, records the error for {@link isHookError} and throws it unchanged. */
async function callHook<T>(hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isObject(error)) hookErrors.add(error);
    throw error;
  }
}

/**
 * True if a hook threw an error. The class of the error does not show this, because hooks may throw
 * the same classes as the database.
 */
export function isHookError(error: unknown): boolean {
  // A primitive can only come from a hook, because databases throw objects.
  return !isObject(error) || hookErrors.has(error);
}

function isObject(error: unknown): error is object {
  return (typeof error === "object" && error !== null) || typeof error === "function";
}
