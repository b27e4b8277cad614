import type { Kv } from "@keywright/core";
import { LogUnavailableError, SnapshotReadOnlyError } from "../../errors/transaction-errors.js";
import type { TableContext } from "../../state/context/table-context.js";

/** What reads the log of a database. */
export type CommitLog = Required<Pick<Kv, "changes" | "commitAt" | "lastChange">>;

/**
 * Returns the log of the database of a call.
 *
 * @throws {LogUnavailableError} if it cannot have one, as Deno KV.
 * @throws {SnapshotReadOnlyError} within a snapshot, and a TypeError within a transaction. The log
 * has no such state.
 */
export function logOf({ model, catalog, snapshot, transaction }: TableContext): CommitLog {
  if (snapshot !== undefined) throw new SnapshotReadOnlyError(model.name);
  if (transaction !== undefined)
    throw new TypeError("A transaction cannot read the log: read it on the database.");
  const kv = catalog.database;
  if (kv.changes === undefined || kv.commitAt === undefined || kv.lastChange === undefined)
    throw new LogUnavailableError(model.name);
  return kv as CommitLog;
}
