import type { KvEntry, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import type { FoundRow } from "../../context/any-query.js";
import { inParallel } from "../../context/in-parallel.js";
import { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { RowId } from "../../errors/orm-error.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { keyText } from "../../indexes/key-text.js";
import { pointerOf, rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { changedCopies } from "../../model/relations/copied-fields.js";
import type { BelongsTo } from "../../model/relations/relation-definition.js";
import { findByPrimaryKey } from "../../query/read/find-unique.js";
import { isReferenceTo, referencedKey } from "../../relations/referenced-key.js";
import { tableOfModel } from "../../relations/referrers.js";
import { copiesOfNoRow, ownNames } from "../../relations/with-copied-fields.js";
import { foundRow } from "../../rows/found-row.js";
import { readKeys, readRows, readWithSchema } from "../../rows/read-rows.js";
import { type MigrationRun, maxBatchRows } from "../../run/migration-run.js";
import { readNextRows } from "../../run/scan-rows.js";
import { commitChange } from "../../write/commit/commit-change.js";
import { planChange } from "../../write/commit/plan-change.js";
import { withDeletedRows } from "../../write/deleted/purging-context.js";
import { writeEach } from "../../write/many/write-each.js";
import { findToWrite } from "../../write/rows/find-row.js";

/** A row whose copied fields differ from the row that it copies, or from their defaults. */
export interface OutdatedCopy {
  readonly model: string;
  /** The primary key of the row with the copies. */
  readonly id: RowId;
  readonly relation: string;
  /** The fields of the row that differ. */
  readonly fields: readonly string[];
}

/** The rows of a model whose copied fields a verification found wrong. */
export interface CheckedCopies {
  /** The number of rows with wrong copies. */
  readonly count: number;
  /** The first 100. A row is listed once for each relation. */
  readonly first: readonly OutdatedCopy[];
  /** How many of these rows were written again. */
  readonly repaired: number;
}

interface CheckOptions {
  /** Writes the copies that are wrong. */
  readonly writes: boolean;
  /**
   * Is called after each page with the number of rows read so far. Set if the copies are filled for
   * the first time, so that most of them differ and are not compared twice.
   */
  readonly onPage?: (rows: number) => void;
}

/** A relation that copies fields. */
interface CopyRelation {
  readonly name: string;
  readonly relation: BelongsTo;
  readonly target: TableContext;
}

interface Suspect {
  readonly primaryKey: readonly KvKeyPart[];
  readonly copying: CopyRelation;
  readonly fields: readonly string[];
}

const maxListed = 100;

/**
 * Compares the copied fields of all rows of a model with the rows that they copy, beside readers
 * and writers. A row that looks wrong is compared again in one snapshot, or written by a commit
 * that checks both rows. The copies of a row that refers to no row must be the defaults of the
 * schema. A reference that leads to no row is not reported.
 *
 * @returns `"stopped"` if the signal stopped it.
 * @throws the error of the first row that could not be written.
 */
export async function checkCopies(
  context: TableContext,
  run: MigrationRun,
  { writes, onPage }: CheckOptions,
): Promise<CheckedCopies | "stopped"> {
  const relations = copyRelations(context);
  if (relations.length === 0) return { count: 0, first: [], repaired: 0 };
  const first: OutdatedCopy[] = [];
  let [count, repaired, rows] = [0, 0, 0];
  let after: readonly KvKeyPart[] | null = null;
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    const limit = Math.min(maxBatchRows, run.batchRows);
    const start: readonly KvKeyPart[] | null = after;
    const entries: KvEntry<AnyRow>[] = await readWithSchema(context, () =>
      readNextRows(context, start, limit),
    );
    const suspects = await findSuspects(context, relations, entries);
    const outdated = onPage === undefined ? await confirmed(context, suspects) : suspects;
    if (writes) repaired += await writeCopies(context, outdated);
    count += new Set(outdated.map(({ primaryKey }) => keyText(primaryKey))).size;
    first.push(...outdated.slice(0, maxListed - first.length).map((one) => report(context, one)));
    rows += entries.length;
    await run.afterBatch(entries.length);
    onPage?.(rows);
    after = entries.at(-1)?.key.slice(1) ?? after;
    if (entries.length < limit) return { count, first, repaired };
  }
}

function copyRelations({ links, tables }: TableContext): CopyRelation[] {
  return [...links.relations.values()].flatMap(({ name, relation, target }) => {
    if (relation.kind !== "belongsTo" || Object.keys(relation.copy).length === 0) return [];
    // The copies of a row that is marked as deleted are right if it is restored.
    return [{ name, relation, target: withDeletedRows(tableOfModel(tables, target)) }];
  });
}

/** Returns the rows among some entries that differ from the rows that they copy. */
async function findSuspects(
  context: TableContext,
  relations: readonly CopyRelation[],
  entries: readonly (KvEntryMaybe<unknown> & { readonly key: KvKey })[],
): Promise<Suspect[]> {
  const rows = entries.flatMap((entry) => {
    const primaryKey = entry.key.slice(1);
    if (primaryKey.length !== context.model.primaryKey.length) return [];
    return foundRow(context, primaryKey, entry, true) ?? [];
  });
  const suspects: Suspect[] = [];
  for (const copying of relations) {
    const referring = rows.flatMap((found) => {
      const { primaryKey, row } = found;
      const targetId = referencedKey(copying.relation.fields, row);
      if (targetId !== undefined) return [{ found, targetId }];
      const fields = differencesOfNoRow(context, copying, row);
      if (fields.length > 0) suspects.push({ primaryKey, copying, fields });
      return [];
    });
    const sources = await readRows(
      copying.target,
      referring.map(({ targetId }) => targetId),
    );
    for (const [i, { found, targetId }] of referring.entries()) {
      const fields = differences(copying, found, foundRow(copying.target, targetId, sources[i]!));
      if (fields.length > 0) suspects.push({ primaryKey: found.primaryKey, copying, fields });
    }
  }
  return suspects;
}

function differences(
  { relation }: CopyRelation,
  found: FoundRow,
  source: FoundRow | undefined,
): readonly string[] {
  return source === undefined ? [] : changedCopies(relation.copy, source.row, found.row);
}

/** Returns the copied fields of a row that refers to no row, if they lack their defaults. */
function differencesOfNoRow(
  { model }: TableContext,
  { relation: { copy } }: CopyRelation,
  row: AnyRow,
): readonly string[] {
  return changedCopies(ownNames(copy), copiesOfNoRow(model, copy), row);
}

async function confirmed(
  context: TableContext,
  suspects: readonly Suspect[],
): Promise<readonly Suspect[]> {
  const isConfirmed = await inParallel(suspects, 8, (suspect) => isOutdated(context, suspect));
  return suspects.filter((_, i) => isConfirmed[i]);
}

/** Compares a row with the one that it copies, in one snapshot. */
async function isOutdated(
  context: TableContext,
  { primaryKey, copying }: Suspect,
): Promise<boolean> {
  const { target, relation } = copying;
  const before = await readFound(context, primaryKey);
  if (before === undefined) return false;
  const targetId = referencedKey(relation.fields, before.row);
  if (targetId === undefined) return differencesOfNoRow(context, copying, before.row).length > 0;
  const keys = [rowKey(context.model, primaryKey), rowKey(target.model, targetId)];
  const [entry, source] = await readKeys(context, keys);
  const found = foundRow(context, primaryKey, entry!, true);
  if (found === undefined || !isReferenceTo(relation.fields, found.row, targetId)) return false;
  return differences(copying, found, foundRow(target, targetId, source!)).length > 0;
}

async function readFound(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<FoundRow | undefined> {
  const meter = new ReadMeter(context.model.name, Number.POSITIVE_INFINITY);
  return await findByPrimaryKey(context, primaryKey, meter);
}

/** Writes rows again, with the fields of the rows that they copy. Returns how many were written. */
async function writeCopies(context: TableContext, suspects: readonly Suspect[]): Promise<number> {
  const keys = new Map(suspects.map(({ primaryKey }) => [keyText(primaryKey), primaryKey]));
  const results = await writeEach(context, {
    items: [...keys.values()],
    idOf: pointerOf,
    write: writeCopied,
  });
  let written = 0;
  for (const result of results) {
    if (result.ok) written++;
    else throw result.error;
  }
  return written;
}

/** Writes a row with the fields that it copies as they are now. Undefined if it is gone. */
async function writeCopied(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<FoundRow | undefined> {
  const id = pointerOf(primaryKey);
  try {
    const { change, versionstamp } = await commitChange(context, async (catalog) => {
      const find = () => readFound(context, primaryKey);
      const found = await findToWrite(context, catalog, find, id);
      const { row } = found;
      const planned = { primaryKey, before: found, row, renewsCopies: true };
      return planChange(context, catalog, planned);
    });
    return { row: change.row!, primaryKey, versionstamp };
  } catch (error) {
    if (error instanceof RowNotFoundError) return undefined;
    throw error;
  }
}

function report({ model }: TableContext, { primaryKey, copying, fields }: Suspect): OutdatedCopy {
  return { model: model.name, id: pointerOf(primaryKey), relation: copying.name, fields };
}
