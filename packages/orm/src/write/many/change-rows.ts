import type { KvKeyPart } from "@keywright/core";
import { takenError } from "../../derived/entries/duplicates/claim-unique-key.js";
import { unexpired } from "../../derived/expiry/row-expiry.js";
import { InvalidArgumentError, InvalidQueryError } from "../../errors/query-errors.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { hasIndexKey } from "../../model/keys/index-entries.js";
import { keyText } from "../../model/keys/key-text.js";
import { pointerOf, rowKey } from "../../model/keys/primary-key.js";
import { copyData } from "../../model/rows/copy-of-data.js";
import { yieldToEventLoop } from "../../promises/yield-to-event-loop.js";
import { findByPrimaryKey } from "../../read/find/find-unique.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { viewOf } from "../../state/context/read-view.js";
import type { DeferredKeys, TableContext, TakenKey } from "../../state/context/table-context.js";
import { deleteRow } from "../cascade/delete-row.js";
import type { WriteOptions } from "../input/write-options.js";
import type { FindRow } from "../rows/find-row.js";
import { writeAtomically } from "../rows/run-atomically.js";
import { updateRow } from "../rows/update-row.js";
import { type FoundKey, findKeys } from "./find-keys.js";
import { createMatcher, type RowMatcher } from "./row-matcher.js";
import { canUpdateTogether, updateTogether } from "./update-together.js";
import { type Outcome, type RowResult, writeEach } from "./write-each.js";

export interface ManyOptions extends WriteOptions {
  /** Writes all rows in one commit, or none. */
  readonly atomic?: boolean | undefined;
}

type PrimaryKey = readonly KvKeyPart[];

type WriteFound = (
  context: TableContext,
  find: FindRow,
  primaryKey: PrimaryKey,
  meter: ReadMeter,
) => Promise<FoundRow>;

/**
 * Updates the rows of a query. Their primary keys are found first. Then each row is updated once,
 * if the query still matches it, even if the update moves it within the index that is read. With
 * `atomic`, all updates are one commit, or all or nothing within the caller's transaction. Without
 * it, a commit contains up to about 100 rows, and a row that fails does not prevent the others from
 * being updated.
 *
 * @returns the result of each row, in the order of the query. Rows that are gone in the meantime
 * are left out. If a hook after a write threw, the result has its error too.
 * @throws {InvalidQueryError} if the query has no condition.
 * @throws {ReadLimitError} if the query reads more than it may. Nothing is written.
 * @throws {LimitExceededError} if one commit does not accept all rows of an `atomic` call.
 * @throws any error of `updateRow` for the first row that fails, if `atomic` is set.
 * @throws any error that concerns the whole call. Rows of earlier commits stay written.
 */
export async function updateRows(
  context: TableContext,
  query: AnyQuery,
  data: AnyRow,
  options: ManyOptions,
  meter: ReadMeter,
): Promise<RowResult[]> {
  const { expireIn } = options;
  // Changes that the caller makes to the object after the call are not written.
  const patch = copyData(context.model, data);
  return await changeRows(context, query, options, meter, {
    // A commit of many rows could not be divided by the rows that copy their fields.
    isAlone: context.links.copiedBy.length > 0,
    write: (within, find, primaryKey) =>
      updateRow(within, find, pointerOf(primaryKey), patch, { expireIn }),
    // Related rows are read for each row.
    writeTogether:
      query.related === undefined && canUpdateTogether(context, options)
        ? (within, keys, matches, rowMeter) =>
            updateTogether(within, keys, { matches, patch, meter: rowMeter })
        : undefined,
  });
}

/**
 * Deletes the rows of a query, as {@link updateRows} updates them. If a relation leads to this
 * model, each row is deleted on its own, with the rows that refer to it.
 *
 * @throws the same errors as {@link updateRows}.
 */
export async function deleteRows(
  context: TableContext,
  query: AnyQuery,
  options: ManyOptions,
  meter: ReadMeter,
): Promise<RowResult[]> {
  return await changeRows(context, query, options, meter, {
    isAlone: context.links.referencedBy.length > 0,
    write: (within, find, primaryKey, rowMeter) =>
      deleteRow(within, find, pointerOf(primaryKey), {}, rowMeter, primaryKey),
  });
}

/** How the rows of a call are changed. */
interface RowsChange {
  /** True to change one row after the other. */
  readonly isAlone: boolean;
  readonly write: WriteFound;
  /** Changes the rows of a group by one operation. Undefined if this is not possible. */
  readonly writeTogether?:
    | ((
        within: TableContext,
        keys: readonly FoundKey[],
        matches: RowMatcher,
        meter: ReadMeter,
      ) => Promise<Outcome[] | undefined>)
    | undefined;
}

async function changeRows(
  context: TableContext,
  query: AnyQuery,
  options: ManyOptions,
  meter: ReadMeter,
  change: RowsChange,
): Promise<RowResult[]> {
  const { model } = context;
  if (options.ifVersion !== undefined) {
    const reason = "rows have different versions; use it with a call that writes one row";
    throw new InvalidArgumentError(model.name, "ifVersion", reason);
  }
  assertCondition(context, query);
  // The read limit applies only to finding the rows, so that it cannot stop a call between writes.
  const writeMeter = new ReadMeter(model.name, Number.POSITIVE_INFINITY);
  const matches = await createMatcher(viewOf(context), query, writeMeter);
  const write = (within: TableContext, primaryKey: PrimaryKey) =>
    writeIfStill(within, matches, primaryKey, writeMeter, change.write);
  const results = options.atomic
    ? await changeAtomically(context, query, meter, write)
    : await writeEach<FoundKey>(context, {
        items: await findKeys(context, query, meter),
        isAlone: change.isAlone,
        write: (within, { primaryKey }) => write(within, primaryKey),
        writeTogether:
          change.writeTogether &&
          ((within, keys) => change.writeTogether!(within, keys, matches, writeMeter)),
        idOf: ({ primaryKey }) => pointerOf(primaryKey),
      });
  meter.reads += writeMeter.reads;
  return results;
}

/** After how many rows other work of the process gets its turn. */
const rowsPerTurn = 100;

async function changeAtomically(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
  write: (within: TableContext, primaryKey: PrimaryKey) => Promise<FoundRow | undefined>,
): Promise<RowResult[]> {
  const readsBefore = meter.reads;
  const rows = await writeAtomically(context, async (within) => {
    const written: FoundRow[] = [];
    meter.reads = readsBefore;
    const keys = await findKeys(within, query, meter);
    const primaryKeys = keys.map(({ primaryKey }) => primaryKey);
    const takenKeys = new TakenKeys(primaryKeys);
    for (const [position, primaryKey] of primaryKeys.entries()) {
      if (position > 0 && position % rowsPerTurn === 0) await yieldToEventLoop();
      takenKeys.begin(primaryKey);
      const row = await write({ ...within, deferredKeys: takenKeys }, primaryKey);
      if (row !== undefined) written.push(row);
    }
    await takenKeys.assertReleased(within);
    return written;
  });
  return rows.map((row) => ({ ok: true, row }));
}

async function writeIfStill(
  context: TableContext,
  matches: RowMatcher,
  primaryKey: PrimaryKey,
  meter: ReadMeter,
  write: WriteFound,
): Promise<FoundRow | undefined> {
  let isGone = false;
  const find = async (within = context): Promise<FoundRow | undefined> => {
    const view = viewOf(within);
    const found = await unexpired(view, await findByPrimaryKey(view, primaryKey, meter));
    isGone = found === undefined || !(await matches(found, view));
    return isGone ? undefined : found;
  };
  try {
    return await write(context, find, primaryKey, meter);
  } catch (error) {
    if (isGone && error instanceof RowNotFoundError) return undefined;
    throw error;
  }
}

/** @throws {InvalidQueryError} if the query would change every row without saying so. */
function assertCondition({ model }: TableContext, query: AnyQuery): void {
  const { where, related, index, filter } = query;
  const hasWhere = Object.values(where ?? {}).some((condition) => condition !== undefined);
  if (hasWhere || related !== undefined || index !== undefined || filter !== undefined) return;
  const reason = "it has no condition; to write every row, pass filter: () => true";
  throw new InvalidQueryError(model.name, "where", reason);
}

/**
 * The unique keys that rows take from each other while one call updates them. Only the rows after
 * the last update must have different keys, as when values 1, 2 and 3 become 2, 3 and 4.
 */
class TakenKeys implements DeferredKeys {
  readonly #pending: Set<string>;
  readonly #taken: TakenKey[] = [];

  constructor(primaryKeys: readonly (readonly KvKeyPart[])[]) {
    this.#pending = new Set(primaryKeys.map(keyText));
  }

  mayTakeFrom(owner: readonly KvKeyPart[]): boolean {
    return this.#pending.has(keyText(owner));
  }

  add(taken: TakenKey): void {
    this.#taken.push(taken);
  }

  /** Call it before a row is updated. After its update, no key can be taken from it. */
  begin(primaryKey: readonly KvKeyPart[]): void {
    this.#pending.delete(keyText(primaryKey));
  }

  /** @throws {UniqueConstraintError} if a row still has a key that another one took from it. */
  async assertReleased({ kv, model }: TableContext): Promise<void> {
    for (const taken of this.#taken) {
      const { index, key, owner } = taken;
      const { value: row } = await kv.get<AnyRow>(rowKey(model, owner));
      if (row !== null && hasIndexKey(model, index, row, owner, key)) {
        throw takenError(model, taken);
      }
    }
  }
}
