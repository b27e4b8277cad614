import { unexpired } from "../../derived/expiry/row-expiry.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { copyData } from "../../model/rows/copy-of-data.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { assertWriteOptions, type WriteOptions } from "../input/write-options.js";
import type { FindRow } from "../rows/find-row.js";
import { runAtomically } from "../rows/run-atomically.js";
import { findNamed, keyOf } from "./find-related.js";
import { type NestedCall, NestedWriter } from "./nested-writer.js";

/** The row that was written, and its versionstamp before. */
interface Written {
  readonly row: FoundRow;
  readonly before: string | null;
}

/**
 * Creates a row and what its data has for its relations, in one commit.
 *
 * @throws {RowNotFoundError} if a row to connect does not exist.
 * @throws {ReferenceRequiredError} if a reference that has to be emptied cannot be empty.
 * @throws {LimitExceededError} if the rows do not fit into one commit.
 * @throws {InvalidArgumentError} if an operation on related rows is not valid.
 * @throws the errors of `createRow`, `updateRow` and `deleteRow`. Their `path` is the place of the
 * row in the data.
 */
export async function createNested(
  context: TableContext,
  data: AnyRow,
  options: WriteOptions,
  meter: ReadMeter,
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  // The caller may change its object before the commit.
  const copy = copyData(model, data);
  return await writeNested(context, meter, async (within) => {
    const writer = writerOf(within, "data", meter);
    const row = await writer.create(within, { data: copy, path: [] }, options);
    return { row, before: null };
  });
}

/**
 * Changes a row and what the data has for its relations, in one commit.
 *
 * @param where the condition to report in errors.
 * @throws the errors of `createNested`.
 */
export async function updateNested(
  context: TableContext,
  find: FindRow,
  where: unknown,
  data: AnyRow,
  options: WriteOptions,
  meter: ReadMeter,
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  const copy = copyData(model, data);
  return await writeNested(context, meter, async (within) => {
    const writer = writerOf(within, "data", meter);
    return await updateFound(writer, within, find, where, copy, options);
  });
}

/**
 * Changes a row, or creates it if it does not exist, and what the data has for its relations, in
 * one commit.
 *
 * @param options.ifVersion applies only if the row exists.
 * @param assertNew throws if the row must not be created.
 * @throws the errors of `createNested`.
 */
export async function upsertNested(
  context: TableContext,
  find: FindRow,
  create: AnyRow,
  update: AnyRow,
  options: WriteOptions,
  meter: ReadMeter,
  assertNew: (row: AnyRow) => void = () => {},
): Promise<FoundRow> {
  const { model } = context;
  assertWriteOptions(model, options);
  const patch = copyData(model, update);
  const data = copyData(model, create);
  return await writeNested(context, meter, async (within) => {
    const found = await unexpired(viewOf(within), await find(within));
    if (found !== undefined) {
      const writer = writerOf(within, "update", meter);
      const where = keyOf(model, found.row);
      return await updateFound(writer, within, find, where, patch, options);
    }
    const writer = writerOf(within, "create", meter);
    const { expireIn } = options;
    const row = await writer.create(within, { data, path: [] }, { expireIn });
    assertNew(row.row);
    return { row, before: null };
  });
}

async function updateFound(
  writer: NestedWriter,
  within: TableContext,
  find: FindRow,
  where: unknown,
  data: AnyRow,
  options: WriteOptions,
): Promise<Written> {
  let before: string | null = null;
  const findFirst = async () => {
    const found = await find(within);
    before = found?.versionstamp ?? null;
    return found;
  };
  const row = await writer.update(within, findFirst, where, { data, path: [] }, options);
  return { row, before };
}

function writerOf(
  { model, transaction }: TableContext,
  argument: NestedCall["argument"],
  meter: ReadMeter,
): NestedWriter {
  return new NestedWriter({ model: model.name, argument, meter }, transaction);
}

async function writeNested(
  context: TableContext,
  meter: ReadMeter,
  write: (within: TableContext) => Promise<Written>,
): Promise<FoundRow> {
  let isWritten = false;
  const run = async (within: TableContext): Promise<FoundRow> => {
    const { row, before } = await write(within);
    // A write of a related row may have changed the row itself.
    const last = await findNamed(within, keyOf(within.model, row.row), meter);
    isWritten = last?.versionstamp !== before;
    return last ?? row;
  };
  // If the assumption is wrong, the rows are written again. Hooks must not be called twice for
  // that.
  const optimistic = Object.keys(context.settings.hooks).length === 0;
  const { result, versionstamp } = await runAtomically(context, run, optimistic);
  return versionstamp === null || !isWritten ? result : { ...result, versionstamp };
}
