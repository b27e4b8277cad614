import { LimitExceededError } from "@keywright/core";
import { RowInvalidError } from "../errors/row-errors.js";
import type { FoundRow } from "../query/any-query.js";
import type { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import type { RowResult } from "./row-result.js";
import { createRow } from "./row-writer.js";
import { runAtomically, stamped } from "./run-atomically.js";
import { writeEach } from "./write-each.js";
import type { WriteOptions } from "./write-options.js";

/**
 * Creates rows. With `atomic` all of them in one commit, or within the caller's transaction all or none; without it in
 * commits of some hundred each, where a row that fails does not keep the others from being written. Of rows with the
 * same key, the first is created.
 *
 * @returns what has become of each row, in the order of `data`.
 * @throws {LimitExceededError} where `atomic` asks for more than one commit takes. Nothing is written.
 * @throws what `createRow` throws for the first row that fails, where `atomic` is asked for; the paths of a
 * `RowInvalidError` then begin with the row's place in `data`.
 * @throws what is the fault of the call and not of a row. Rows of commits before it stay written.
 */
export async function createRows(
  context: TableContext,
  data: readonly unknown[],
  options: WriteOptions & { readonly atomic?: boolean },
  meter: ReadMeter,
): Promise<RowResult[]> {
  const { atomic = false, expireIn } = options;
  const rowOptions = expireIn === undefined ? {} : { expireIn };
  const create = (within: TableContext, row: unknown) => createRow(within, row, rowOptions, meter);
  // The list as it is now: what the caller does to it meanwhile is of no account.
  const rows = [...data];
  if (atomic) return await createAtomically(context, rows, create);
  return await writeEach(context, { items: rows, write: create });
}

async function createAtomically(
  context: TableContext,
  data: readonly unknown[],
  create: (within: TableContext, row: unknown) => Promise<FoundRow>,
): Promise<RowResult[]> {
  const { model, limits } = context;
  // Each row has a check and a change at the least, and the schema has a check.
  assertWithin("checks", limits.checks, data.length + 1);
  assertWithin("mutations", limits.mutations, data.length);
  let rows: FoundRow[] = [];
  const body = async (within: TableContext) => {
    rows = [];
    for (const [position, row] of data.entries()) {
      try {
        rows.push(await create(within, row));
      } catch (error) {
        throw error instanceof RowInvalidError ? placed(model.name, error, position) : error;
      }
    }
  };
  const onCommit = (versionstamp: string | null) => {
    rows = rows.map((row) => stamped(row, versionstamp));
  };
  await runAtomically(context, body, onCommit);
  return rows.map((row) => ({ ok: true, row }));
}

function assertWithin(limit: "checks" | "mutations", max: number, actual: number): void {
  if (actual > max && actual > 1) throw new LimitExceededError(limit, max, actual);
}

function placed(model: string, error: RowInvalidError, position: number): RowInvalidError {
  const issues = error.issues.map((issue) => ({ ...issue, path: [position, ...issue.path] }));
  return new RowInvalidError(model, issues, error);
}
