import type { AnyHooks } from "../../context/database-settings.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { callHook } from "./hook-errors.js";

/** The hooks of a context's model; undefined where it has none. */
export function hooksOf({ model, settings }: TableContext): AnyHooks | undefined {
  return Object.hasOwn(settings.hooks, model.name) ? settings.hooks[model.name] : undefined;
}

/** Calls a hook before a write with data to write, which it may change; returns those that it returned, or the same. */
export async function hookedData(data: AnyRow, call: (data: AnyRow) => unknown): Promise<AnyRow> {
  return ((await callHook(() => call(data))) ?? data) as AnyRow;
}

/** Calls the hook before a model's row is deleted, which may forbid that by what it throws. */
export async function askBeforeDelete(context: TableContext, row: AnyRow): Promise<void> {
  const hooks = hooksOf(context);
  if (hooks?.beforeDelete === undefined) return;
  await callHook(() => hooks.beforeDelete?.(copyOfRow(row)));
}

/**
 * Calls a hook after a write: once it is committed, within a transaction behind its commit. What it throws is thrown by the
 * call that wrote, or by the transaction; the write stands all the same.
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

/** A copy of a row for a hook: what becomes of it there is of no consequence to what is written and returned. */
export function copyOfRow(row: AnyRow): AnyRow {
  return structuredClone(row);
}
