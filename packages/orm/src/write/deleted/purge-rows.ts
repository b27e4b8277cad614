import type { KvKey, KvKeyPart } from "@keywright/core";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { keyAfter } from "../../model/keys/key-parts.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import { isMarked, markedIndexName } from "../../model/options/soft-delete.js";
import { assertArgument, date, is } from "../../model/shape.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { namedIndex } from "../../state/schema/named-index.js";
import { deleteRow } from "../cascade/delete-row.js";
import { writeUnlessGone } from "../cascade/write-unless-gone.js";
import { type RowResult, writeEach } from "../many/write-each.js";
import type { FindRow } from "../rows/find-row.js";
import { purgingContext } from "./purging-context.js";

/** How many marked rows are listed together. */
const batchSize = 500;

/**
 * Removes a row that is marked as deleted. References to it by a relation with
 * `onDelete: "setNull"` are cleared. No hook is called for the row.
 *
 * @throws {RowNotFoundError} if there is no such row, or if it is not marked.
 */
export async function purgeRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  meter: ReadMeter,
): Promise<FoundRow> {
  const purging = purgingContext(context);
  const findMarked = async () => {
    const found = await find();
    return found !== undefined && isMarked(context.model, found.row) ? found : undefined;
  };
  return await deleteRow(purging, findMarked, where, {}, meter);
}

/** A number of purged rows, and the errors of those that could not be removed. */
export interface PurgeResult {
  readonly count: number;
  readonly failed: readonly { readonly id: unknown; readonly error: unknown }[];
}

const deletedBefore = is<Date>(
  (value) => date(value) === undefined,
  "a valid date; rows that were deleted before it are removed",
);

/**
 * Removes the rows that were marked before a time, oldest first. It reads only marked rows, from
 * their own index. A commit contains up to about 100 rows, or one if relations lead to the model.
 * A call that was interrupted has removed its first rows, and the next one continues with the rest.
 *
 * @param accepts false for marked rows that are left.
 * @throws {InvalidArgumentError} if `before` is not a valid date.
 * @throws {IndexNotReadyError} if `migrate` has not built the index of marked rows.
 */
export async function purgeRows(
  context: TableContext,
  before: unknown,
  meter: ReadMeter,
  accepts: (row: FoundRow) => boolean = () => true,
): Promise<PurgeResult> {
  const { model, catalog } = context;
  assertArgument(model.name, "before", before, deletedBefore);
  const index = namedIndex(model, markedIndexName(model.softDelete!));
  await catalog.refresh();
  await catalog.assertReadable(index);
  meter.index = index.name;
  const purging = purgingContext(context);
  const writeMeter = new ReadMeter(model.name, Number.POSITIVE_INFINITY);
  const write = async (within: TableContext, primaryKey: readonly KvKeyPart[]) => {
    const find = async () => {
      const found = await findByPrimaryKey(viewOf(within), primaryKey, writeMeter, true);
      const isPurged = found !== undefined && isMarked(model, found.row) && accepts(found);
      return isPurged ? found : undefined;
    };
    // Others may have restored or purged the row.
    return await writeUnlessGone(model, primaryKey, (where) =>
      deleteRow(within, find, where, {}, writeMeter, primaryKey),
    );
  };
  const failed: { id: unknown; error: unknown }[] = [];
  let count = 0;
  const end: KvKey = [index.place, before.getTime()];
  for (let start: KvKey = [index.place]; ; ) {
    const items: (readonly KvKeyPart[])[] = [];
    let last: KvKey | undefined;
    const options = { limit: batchSize, batchSize: Math.min(batchSize, context.limits.batchSize) };
    for await (const { key, value } of context.kv.list({ start, end }, options)) {
      last = key;
      const primaryKey = primaryKeyOfEntry(model, index, value);
      if (primaryKey !== undefined) items.push(primaryKey);
    }
    if (last === undefined) break;
    meter.reads += items.length;
    const results: readonly RowResult[] = await writeEach(purging, {
      items,
      isAlone: context.links.referencedBy.length > 0,
      write,
      idOf: pointerOf,
    });
    for (const result of results) {
      if (result.ok) count++;
      else failed.push({ id: result.id, error: result.error });
    }
    start = keyAfter(last);
  }
  meter.reads += writeMeter.reads;
  return { count, failed };
}
