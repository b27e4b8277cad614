import type { AnyHooks } from "../../context/database-settings.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { callHook } from "./hook-errors.js";

/** Returns the hooks of a context's model, undefined if it has none. */
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
  await callHook(() => hooks.beforeDelete?.(copyOfRow(row)));
}

/**
 * Calls a hook after a write, or after the commit of the transaction. An error of the hook is
 * thrown by the call that wrote, or by the transaction. The write stays committed.
 */
export async function afterWrite(
  { transaction }: TableContext,
  call: () => unknown,
): Promise<void> {
  if (transaction === undefined) await callHook(call);
  else {
    transaction.afterCommit(async () => {
      await callHook(call);
    });
  }
}

/** Returns a copy of a row for a hook, which may change it without affecting the written row. */
export function copyOfRow(row: AnyRow): AnyRow {
  return structuredClone(row);
}
