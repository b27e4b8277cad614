import { type AnyDatabase, tableContexts } from "../../context/any-database.js";
import { ReadMeter } from "../../context/read-meter.js";
import type { RowId } from "../../errors/orm-error.js";
import { pointerOf } from "../../indexes/primary-key.js";
import { deleteJobsPrefix } from "../../relations/guard-keys.js";
import { finishDelete } from "./cascade-delete.js";

/** What has become of deletes that were begun. */
export interface ResumedDeletes {
  /** How many are done. */
  readonly finished: number;
  /**
   * Those that are not, and why: `RowReferencedError` where somebody refers to the row who forbids it, or what a hook
   * threw. Such a row is not on its way out any more, unless the error says that it may be tried again. One that is deleted is
   * among them where a hook behind a write threw.
   */
  readonly failed: readonly {
    readonly model: string;
    readonly id: RowId;
    readonly error: unknown;
  }[];
}

/**
 * Finishes the deletes of rows that take several commits, where the program that began them did not: it was killed, or
 * something failed. A program may call it when it starts. What another program is deleting at this time is deleted by both.
 * That a row is deleted was decided when it was begun: its own `beforeDelete` hook is not called again.
 *
 * ```ts
 * const { failed } = await resumeDeletes(db);
 * ```
 *
 * Deletes of models that the database was opened without stay as they are.
 *
 * @throws {TypeError} for what is not a database, or is a transaction.
 */
export async function resumeDeletes(database: AnyDatabase): Promise<ResumedDeletes> {
  const tables = tableContexts(database);
  const [any] = tables.values();
  let finished = 0;
  const failed: { model: string; id: RowId; error: unknown }[] = [];
  if (any === undefined) return { finished, failed };
  if (any.transaction !== undefined) {
    throw new TypeError("Deletes are resumed on the database, not within a transaction.");
  }
  for await (const { key } of any.kv.list({ prefix: deleteJobsPrefix })) {
    const [prefix, ...primaryKey] = key.slice(deleteJobsPrefix.length);
    const context = [...tables.values()].find(({ model }) => model.prefix === prefix);
    if (context === undefined) continue;
    const { name } = context.model;
    try {
      await finishDelete(context, primaryKey, new ReadMeter(name, Number.POSITIVE_INFINITY));
      finished++;
    } catch (error) {
      failed.push({ model: name, id: pointerOf(primaryKey), error });
    }
  }
  return { finished, failed };
}
