import type { KvKeyPart } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { ReferenceMissingError, withPosition } from "../../errors/row-errors.js";
import { primaryKeyOfPointer } from "../../indexes/primary-key.js";
import { copyInput } from "../../model/copy-of-data.js";
import { yieldToEventLoop } from "../../transaction/yield-to-event-loop.js";
import { assertWithin } from "../commit/commit-change.js";
import { hooksOf, isHookError } from "../input/row-hooks.js";
import type { WriteOptions } from "../input/write-options.js";
import { createRow } from "../rows/create-row.js";
import { writeAtomically } from "../rows/run-atomically.js";
import { type RowResult, writeEach } from "./write-each.js";

/**
 * Creates rows. With `atomic`, they are created in one commit, or all or nothing within the
 * caller's transaction. Without it, a commit contains up to about 100 rows, and a row that fails
 * does not prevent the others from being created. A row may refer to rows before it in `data`. If
 * several rows have the same key, the one whose commit comes first is created. This is the first of
 * them, unless a hook or an asynchronous part of the schema delays it.
 *
 * @returns the result of each row, in the order of `data`. If a hook after a write threw, its error
 * is beside the row.
 * @throws {LimitExceededError} if one commit does not accept all rows of an `atomic` call.
 * @throws any error of `createRow` for the first row that fails, if `atomic` is set. In it, the
 * position of the row is the first part of each path of a `RowInvalidError`, otherwise `position`.
 * @throws any error that concerns the whole call. Rows of earlier commits stay written.
 */
export async function createRows(
  context: TableContext,
  data: readonly unknown[],
  options: WriteOptions & { readonly atomic?: boolean | undefined },
): Promise<RowResult[]> {
  const { atomic = false, expireIn } = options;
  const create = (within: TableContext, row: unknown) => createRow(within, row, { expireIn });
  // Changes that the caller makes to the list or its rows after the call are not written.
  const rows = Array.from(data, (row) => copyInput(context.model, row));
  if (atomic) return await createAtomically(context, rows, create);
  if (!refersToItself(context)) return await writeEach(context, { items: rows, write: create });
  return await writeEach(context, {
    items: rows,
    write: create,
    // The `beforeCreate` hook is called once for each row, so a row cannot be tried again.
    isAlone: hooksOf(context)?.beforeCreate !== undefined,
    missingRow: (error) => missingRow(context, error),
  });
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
  create: (within: TableContext, row: unknown) => Promise<FoundRow>,
): Promise<RowResult[]> {
  const { limits } = context;
  // Each row needs at least one check and one mutation, and the catalog entry needs one check.
  assertWithin(limits, "checks", data.length + 1);
  assertWithin(limits, "mutations", data.length);
  const write = async (within: TableContext, written: FoundRow[]): Promise<void> => {
    for (const [position, row] of data.entries()) {
      if (position > 0 && position % rowsPerTurn === 0) await yieldToEventLoop();
      try {
        written.push(await create(within, row));
      } catch (error) {
        throw isHookError(error) ? error : withPosition(error, position);
      }
    }
  };
  // If the assumption is wrong, the rows are written again. Hooks must not be called twice for
  // that.
  const rows = await writeAtomically(context, write, hooksOf(context) === undefined);
  return rows.map((row) => ({ ok: true, row }));
}
