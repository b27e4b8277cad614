import { withPosition } from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { copyInput } from "../../model/rows/copy-of-data.js";
import { assertArgument, flag } from "../../model/shape.js";
import { yieldToEventLoop } from "../../promises/yield-to-event-loop.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import { assertWithin } from "../../state/transaction/limit-error-of.js";
import { isHookError } from "../input/row-hooks.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import { createRow, insertNewRow, newRow } from "../rows/create-row.js";
import { writeAtomically } from "../rows/run-atomically.js";
import { canCreateTogether, createTogether, type ParsedRow } from "./create-together.js";
import { CreationOrder, isDuplicate } from "./creation-order.js";
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
 * several rows have the same key, the first of them that can be created is created. With
 * `skipDuplicates`, the others are no failures.
 *
 * @returns the result of each row that was not skipped, in the order of `data`. If a hook after a
 * write threw, the result has its error too. A failed row has its position.
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
  const { model } = context;
  const { atomic = false, skipDuplicates = false, expireIn } = options;
  assertArgument(model.name, "skipDuplicates", skipDuplicates, flag);
  // Changes that the caller makes to the list or its rows after the call are not written.
  const rows = Array.from(data, (row) => copyInput(model, row));
  if (atomic) {
    const create: Create = (within, row) => createRow(within, row, { expireIn });
    const results = await createAtomically(context, rows, create, skipDuplicates);
    return { results, skipped: rows.length - results.length };
  }
  const hasHook = context.settings.hooks[context.model.name]?.beforeCreate !== undefined;
  // The hook of a row may have to see the rows before it, to be called for the row or not.
  const all = await createEach(context, rows, { expireIn }, skipDuplicates && hasHook);
  const results = skipDuplicates
    ? all.filter((result) => result.ok || !isDuplicate(model, result.error))
    : all;
  return { results, skipped: rows.length - results.length };
}

type Create = (within: TableContext, row: unknown) => Promise<FoundRow>;

/** Returns the results of all rows, also of those that exist. */
async function createEach(
  context: TableContext,
  data: readonly unknown[],
  options: WriteOptions,
  isAlone: boolean,
): Promise<RowResult[]> {
  assertWriteOptions(context.model, options);
  const order = new CreationOrder(context);
  const createInOrder = <T>(
    items: readonly T[],
    parse: (within: TableContext, item: T) => AnyRow | Promise<AnyRow>,
  ): Promise<RowResult[]> => {
    const write = (within: TableContext, item: T) =>
      order.create(
        () => parse(within, item),
        (row) => insertNewRow(within, row, options),
      );
    return writeEach(context, { items, write, isAlone });
  };
  const results =
    !isAlone && canCreateTogether(context, options)
      ? await createTogether(context, data, (rows) => createInOrder(rows, (_, row) => rowOf(row)))
      : await createInOrder(data, newRow);
  // A row that was created says itself which one it is.
  return results.map((result, position) => (result.ok ? result : { ...result, position }));
}

function rowOf(parsed: ParsedRow): AnyRow {
  if ("error" in parsed) throw parsed.error;
  return parsed.row;
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
  const write = async (within: TableContext): Promise<FoundRow[]> => {
    const written: FoundRow[] = [];
    for (const [position, row] of data.entries()) {
      if (position > 0 && position % rowsPerTurn === 0) await yieldToEventLoop();
      try {
        written.push(await create(within, row));
      } catch (error) {
        if (skipsDuplicates && isDuplicate(model, error)) continue;
        throw isHookError(error) ? error : withPosition(error, position);
      }
    }
    return written;
  };
  // If the assumption is wrong, the rows are written again. Hooks must not be called twice for
  // that.
  const rows = await writeAtomically(
    context,
    write,
    context.settings.hooks[context.model.name] === undefined,
  );
  return rows.map((row) => ({ ok: true, row }));
}
