import type { AnyRow } from "../../model/compiled-model.js";
import type { TableContext } from "../../state/context/table-context.js";
import { callDuringHook, type DuringHook } from "../input/row-hooks.js";
import { writeRowAtomically } from "./run-atomically.js";

/**
 * Writes a row. If the model has a `during` hook for the write, both are one commit: the hook gets
 * the rows and the transaction, after the row was written in it. If it throws, nothing is written.
 * If others have changed what the write or the hook has read, both run again.
 *
 * @param write writes the row in the context that it gets.
 * @param rowsOf returns the rows that the hook gets. Undefined if it is not to be called.
 * @throws {TransactionConflictError} after 100 attempts.
 * @throws the error of the hook.
 */
export function writeWithHook<T extends { readonly versionstamp: string }>(
  context: TableContext,
  name: DuringHook,
  write: (within: TableContext) => Promise<T>,
  rowsOf: (written: T) => readonly AnyRow[] | undefined,
): Promise<T> {
  if (context.settings.hooks[context.model.name]?.[name] === undefined) return write(context);
  return writeRowAtomically(context, async ({ kv, transaction, tables }) => {
    // Keeps what only this call has, such as its scope. The context of the transaction lacks it.
    const within = { ...context, kv, transaction, tables };
    const written = await write(within);
    const rows = rowsOf(written);
    if (rows !== undefined) await callDuringHook(within, name, rows);
    return written;
  });
}
