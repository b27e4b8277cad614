import type { KvKeyPart } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import { hooksOf } from "../../context/hooks-of.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { ReferenceMissingError, withPosition } from "../../errors/row-errors.js";
import { primaryKeyOfPointer } from "../../indexes/primary-key.js";
import { copyInput } from "../../model/rows/copy-of-data.js";
import { yieldToEventLoop } from "../../transaction/yield-to-event-loop.js";
import { assertWithin } from "../commit/commit-change.js";
import { isHookError } from "../input/row-hooks.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { createRow, insertNewRow } from "../rows/create-row.js";
import { writeAtomically } from "../rows/run-atomically.js";
import { createWithoutDuplicates, isDuplicate, type PositionedResult } from "./skip-duplicates.js";
import { type RowResult, writeEach } from "./write-each.js";

export interface CreateRowsOptions extends WriteOptions {
  /** Creates all rows in one commit, or none. */
  readonly atomic?: boolean | undefined;
  /** Leaves out rows whose primary key or unique values exist. */
  readonly skipDuplicates?: boolean | undefined;
}

/** The rows that one call has created, and those that have failed. */
export interface CreationResults {
  readonly results: readonly RowResult[];
  /** How many rows were left out because their primary key or unique values exist. */
  readonly skipped: number;
}

/**
 * Creates rows. With `atomic`, they are created in one commit, or all or nothing within the
 * caller's transaction. Without it, a commit contains up to about 100 rows, and a row that fails
 * does not prevent the others from being created. A row may refer to rows before it in `data`. If
 * several rows have the same key, the one whose commit comes first is created. This is the first of
 * them, unless a hook or an asynchronous part of the schema delays it. With `skipDuplicates`, it is
 * always the first, and the others are no failures.
 *
 * @returns the result of each row that was not skipped, in the order of `data`. If a hook after a
 * write threw, its error is beside the row. A failed row has its position.
 * @throws {LimitExceededError} if one commit does not accept all rows of an `atomic` call.
 * @throws any error of `createRow` for the first row that fails, if `atomic` is set. In it, the
 * position of the row is the first part of each path of a `RowInvalidError`, otherwise `position`.
 * @throws any error that concerns the whole call. Rows of earlier commits stay written.
 */
export async function createRows(
  context: TableContext,
  data: readonly unknown[],
  options: CreateRowsOptions,
): Promise<CreationResults> {
  const { atomic = false, skipDuplicates = false, expireIn } = options;
  if (typeof skipDuplicates !== "boolean") {
    throw new InvalidArgumentError(context.model.name, "skipDuplicates", "it must be a boolean");
  }
  const create = (within: TableContext, row: unknown) => createRow(within, row, { expireIn });
  // Changes that the caller makes to the list or its rows after the call are not written.
  const rows = Array.from(data, (row) => copyInput(context.model, row));
  if (skipDuplicates && !atomic) return await skipInOrder(context, rows, { expireIn });
  const results = atomic
    ? await createAtomically(context, rows, create, skipDuplicates)
    : (await createEach(context, rows, create)).map(positioned);
  return { results, skipped: skipDuplicates ? rows.length - results.length : 0 };
}

/** Adds the position of a row that failed. A row that was created says itself which one it is. */
function positioned(result: RowResult, position: number): RowResult {
  return result.ok ? result : { ...result, position };
}

type Create = (within: TableContext, row: unknown) => Promise<FoundRow>;

async function createEach(
  context: TableContext,
  rows: readonly unknown[],
  create: Create,
): Promise<RowResult[]> {
  if (!refersToItself(context)) return await writeEach(context, { items: rows, write: create });
  return await writeEach(context, {
    items: rows,
    write: create,
    // The `beforeCreate` hook is called once for each row, so a row cannot be tried again.
    isAlone: hooksOf(context)?.beforeCreate !== undefined,
    missingRow: (error) => missingRow(context, error),
  });
}

/** Creates rows as if each were created after those before it, except those that exist. */
async function skipInOrder(
  context: TableContext,
  rows: readonly unknown[],
  options: WriteOptions,
): Promise<CreationResults> {
  const { model, transaction } = context;
  assertWriteOptions(model, options);
  const hasHook = hooksOf(context)?.beforeCreate !== undefined;
  let results: PositionedResult[];
  if (transaction !== undefined || hasHook || refersToItself(context)) {
    const write = (within: TableContext, row: unknown) => createRow(within, row, options);
    const all = await writeEach(context, { items: rows, write, isAlone: true });
    results = all
      .map((result, position) => ({ ...result, position }))
      .filter((result) => result.ok || !isDuplicate(model, result.error));
  } else {
    results = await createWithoutDuplicates(context, rows, (within, row) =>
      insertNewRow(within, row, options),
    );
  }
  return {
    results: results.map(({ position, ...result }) => positioned(result, position)),
    skipped: rows.length - results.length,
  };
}

function refersToItself({ model, links }: TableContext): boolean {
  return [...links.relations.values()].some(
    ({ relation, target }) => relation.kind === "belongsTo" && target.name === model.name,
  );
}

/** Returns the primary key of the row of the same model whose absence caused the error. */
function missingRow({ model }: TableContext, error: unknown): readonly KvKeyPart[] | undefined {
  if (!(error instanceof ReferenceMissingError)) return undefined;
  return error.target === model.name ? primaryKeyOfPointer(model, error.targetId) : undefined;
}

/** After how many rows other work of the process gets its turn. */
const rowsPerTurn = 100;

async function createAtomically(
  context: TableContext,
  data: readonly unknown[],
  create: Create,
  skipsDuplicates: boolean,
): Promise<RowResult[]> {
  const { limits, model } = context;
  // Each row needs at least one check and one mutation, and the catalog entry needs one check.
  assertWithin(limits, "checks", data.length + 1);
  assertWithin(limits, "mutations", data.length);
  const write = async (within: TableContext, written: FoundRow[]): Promise<void> => {
    for (const [position, row] of data.entries()) {
      if (position > 0 && position % rowsPerTurn === 0) await yieldToEventLoop();
      try {
        written.push(await create(within, row));
      } catch (error) {
        if (skipsDuplicates && isDuplicate(model, error)) continue;
        throw isHookError(error) ? error : withPosition(error, position);
      }
    }
  };
  // If the assumption is wrong, the rows are written again. Hooks must not be called twice for
  // that.
  const rows = await writeAtomically(context, write, hooksOf(context) === undefined);
  return rows.map((row) => ({ ok: true, row }));
}
