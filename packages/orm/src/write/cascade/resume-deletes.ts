import type { RowId } from "../../errors/orm-error.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import { nextCascadeMark } from "../../model/options/soft-delete.js";
import { type AnyDatabase, tableContexts } from "../../state/context/any-database.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { markingAt } from "../../state/context/table-context.js";
import { deleteJobsPrefix } from "../../state/references/guard-keys.js";
import { deleteInSteps } from "./delete-in-steps.js";
import { removeJobIfRefused } from "./refused-delete.js";

export interface ResumedDeletes {
  /** The number of deletions that were finished. */
  readonly finished: number;
  /**
   * The deletions that threw an error. A deletion that a hook, a relation or a schema refused is
   * not resumed again. If a hook threw after a write, the deletion is complete. After a `retryable`
   * error and any other, such as a lost connection, the next call resumes the deletion.
   */
  readonly failed: readonly {
    readonly model: string;
    readonly id: RowId;
    readonly error: unknown;
  }[];
}

/**
 * Finishes interrupted deletions that need several commits: those whose program was killed or got
 * an error. A program may call it when it starts. If another program is still working on one of
 * them, both programs delete its rows, which is safe. The `beforeDelete` hook of the row itself is
 * not called, because it was called before the deletion began.
 *
 * ```ts
 * const { failed } = await resumeDeletes(db);
 * ```
 *
 * Deletions of rows whose models the database was opened without are left as they are.
 *
 * @throws {TypeError} if the argument is not a database, or is a transaction.
 */
export async function resumeDeletes(database: AnyDatabase): Promise<ResumedDeletes> {
  const tables = tableContexts(database);
  const [firstTable] = tables.values();
  let finished = 0;
  const failed: { model: string; id: RowId; error: unknown }[] = [];
  if (firstTable === undefined) return { finished, failed };
  if (firstTable.transaction !== undefined) {
    throw new TypeError("Deletes are resumed on the database, not within a transaction.");
  }
  for await (const { key, value } of firstTable.kv.list({ prefix: deleteJobsPrefix })) {
    const [place, ...primaryKey] = key.slice(deleteJobsPrefix.length);
    const context = [...tables.values()].find(({ model }) => model.place === place);
    if (context === undefined) continue;
    const { name } = context.model;
    try {
      const time = value instanceof Date ? value : nextCascadeMark();
      const meter = new ReadMeter(name, Number.POSITIVE_INFINITY);
      await removeJobIfRefused(context, primaryKey, () =>
        deleteInSteps(markingAt(context, time), primaryKey, meter),
      );
      finished++;
    } catch (error) {
      failed.push({ model: name, id: pointerOf(primaryKey), error });
    }
  }
  return { finished, failed };
}
