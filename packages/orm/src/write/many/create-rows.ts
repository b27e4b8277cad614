import { type KvKeyPart, LimitExceededError } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import { copyOfInput } from "../../context/copy-of-data.js";
import type { TableContext } from "../../context/table-context.js";
import { placeError, ReferenceMissingError, RowInvalidError } from "../../errors/row-errors.js";
import { primaryKeyOfPointer } from "../../indexes/primary-key.js";
import { isHookError } from "../input/hook-errors.js";
import { hooksOf } from "../input/row-hooks.js";
import type { WriteOptions } from "../input/write-options.js";
import { createRow } from "../rows/create-row.js";
import { runAtomically, stamped } from "../rows/run-atomically.js";
import type { RowResult } from "./row-result.js";
import { writeEach } from "./write-each.js";

/**
 * Creates rows. With `atomic` all of them in one commit, or within the caller's transaction all or none; without it in
 * commits of some hundred each, where a row that fails does not keep the others from being written. A row may refer to
 * those before it in `data`. Of rows with the same key one is created: the one that comes to its commit first, which is
 * the first of them unless a hook, or a schema with asynchronous parts, takes its time.
 *
 * @returns what has become of each row, in the order of `data`. What a hook after the write of one threw stands beside the
 * row: it is written all the same.
 * @throws {LimitExceededError} where `atomic` asks for more than one commit takes. Nothing is written.
 * @throws what `createRow` throws for the first row that fails, where `atomic` is asked for; the paths of a
 * `RowInvalidError` then begin with the row's place in `data`, which others have as `position`.
 * @throws what is the fault of the call and not of a row. Rows of commits before it stay written.
 */
export async function createRows(
  context: TableContext,
  data: readonly unknown[],
  options: WriteOptions & { readonly atomic?: boolean },
): Promise<RowResult[]> {
  const { atomic = false, expireIn } = options;
  const rowOptions = expireIn === undefined ? {} : { expireIn };
  const create = (within: TableContext, row: unknown) => createRow(within, row, rowOptions);
  // The list and its rows as they are now: what the caller does to them meanwhile is of no account.
  const rows = Array.from(data, (row) => copyOfInput(context.model, row));
  if (atomic) return await createAtomically(context, rows, create);
  if (!refersToItself(context)) return await writeEach(context, { items: rows, write: create });
  return await writeEach(context, {
    items: rows,
    write: create,
    // A hook before the write is called once for each row: rows cannot be tried again.
    isAlone: hooksOf(context)?.beforeCreate !== undefined,
    missingRow: (error) => missingRow(context, error),
  });
}

/** Whether rows of the model may refer to others of the same model. */
function refersToItself({ model, links }: TableContext): boolean {
  return [...links.relations.values()].some(
    ({ relation, target }) => relation.kind === "belongsTo" && target.name === model.name,
  );
}

/** The row of the same model that one refers to and that was not there. */
function missingRow({ model }: TableContext, error: unknown): readonly KvKeyPart[] | undefined {
  if (!(error instanceof ReferenceMissingError)) return undefined;
  return error.target === model.name ? primaryKeyOfPointer(model, error.targetId) : undefined;
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
        if (error instanceof RowInvalidError) throw placed(model.name, error, position);
        if (!isHookError(error)) placeError(error, position);
        throw error;
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
