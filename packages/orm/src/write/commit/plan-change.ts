import {
  type AtomicCheck,
  type KvKey,
  type KvKeyPart,
  type KvMutation,
  KvU64,
} from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import { countedMarkKey } from "../../catalog/counting-state.js";
import type { FoundRow } from "../../context/any-query.js";
import { assertInScope } from "../../context/scope.js";
import type { TableContext } from "../../context/table-context.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import { assertStorable } from "../../indexes/assert-storable.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { changeMarkKeys } from "../../indexes/change-marks.js";
import {
  type IndexChanges,
  type IndexEntry,
  indexChanges,
  indexEntries,
  isUntouched,
} from "../../indexes/index-entries.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { isMarked } from "../../model/options/soft-delete.js";
import { storedForm } from "../../model/rows/stored-form.js";
import type { RowExpiry } from "../../model/rows/time.js";
import { placeChanges, type RankedChanges } from "../../ranks/place-changes.js";
import {
  type CheckedReferences,
  checkReferences,
  noReferences,
  type ReferenceChanges,
} from "../../relations/check-references.js";
import { deleteJobKey } from "../../relations/guard-keys.js";
import { whenReady } from "../input/parse.js";
import { assertNotRanked } from "./assert-not-ranked.js";
import { assertSummable } from "./assert-summable.js";
import { type CountedRow, type CountedRowChange, readCountedRow } from "./counted-row-changes.js";
import { findForeignEntries, type OtherOwners } from "./find-foreign-entries.js";
import { copyToRows } from "./plan-copies.js";
import { planCounters } from "./plan-counters.js";
import { type OtherLayoutChanges, planOtherLayout } from "./plan-other-layout.js";
import { refuseRecordedValues } from "./refuse-recorded-values.js";
import { expiryKey, keepsExpiry } from "./row-expiry.js";

/** A change of one row, with everything that is committed with it. */
export interface PlannedChange {
  readonly primaryKey: readonly KvKeyPart[];
  /** The versionstamp of the row on which the change is based. Null if there was none. */
  readonly versionstamp: string | null;
  /** The row after the change. Null if it is deleted. */
  readonly row: AnyRow | null;
  readonly indexes: IndexChanges;
  /** The entries that the row no longer has. Some of them may belong to another row. */
  readonly released: readonly IndexEntry[];
  readonly other: OtherLayoutChanges;
  readonly expiry: RowExpiry | undefined;
  /** The key under which the expiry time is recorded. Undefined if the database reports it. */
  readonly expiryKey: KvKey | undefined;
  /** The change of the record of counters. Undefined if none is kept for rows of the model. */
  readonly countedRow: CountedRowChange | undefined;
  /** The changes of intervals of ranked indexes. They are also in `mutations`. */
  readonly ranked: RankedChanges;
  /** The changes of rows that copy fields of this row. */
  readonly copies: readonly CopyingChange[];
  /** Further checks, for example on unique entries that were read for the plan. */
  readonly checks: readonly AtomicCheck[];
  /** Further mutations: counters, change marks, and guards of referenced rows. */
  readonly mutations: readonly KvMutation[];
}

/** A change of a row that copies fields, which is committed with the change of the copied row. */
export interface CopyingChange {
  readonly context: TableContext;
  readonly catalog: CatalogSnapshot;
  readonly change: PlannedChange;
}

export interface PlannedRow {
  readonly primaryKey: readonly KvKeyPart[];
  /** The stored row, with its expiry time. Null if there is none. */
  readonly before: FoundRow | null;
  /** True if `before` has expired, so that only its entries matter, and `row` is a new row. */
  readonly isNew?: boolean;
  /** True if its references are checked and its fields copied as for a new row. */
  readonly renewsReferences?: boolean;
  /** True if its fields are copied anew from the rows to which it refers. */
  readonly renewsCopies?: boolean;
  /** The row to store. Null to delete it. */
  readonly row: AnyRow | null;
  /** When the row expires. Undefined to keep its expiry time. */
  readonly expiry?: RowExpiry | undefined;
}

/** The entries of a row before and after a change. */
interface Entries {
  readonly before: readonly IndexEntry[] | undefined;
  readonly after: readonly IndexEntry[] | undefined;
  readonly changes: IndexChanges;
}

/** The results of the reads that a plan needs. */
interface Facts {
  /** Which of the rewritten and removed entries do not belong to this row. */
  readonly others: OtherOwners;
  /** The check on the mark that growing counters contain the row, if counters are being built. */
  readonly mark?: AtomicCheck;
  /** The counters that include the row, if this is recorded for rows that expire. */
  readonly countedRow?: CountedRow;
  readonly references: ReferenceChanges;
  readonly other: OtherLayoutChanges;
}

const one = new KvU64(1n);

/**
 * Plans everything that a change of a row writes, by one snapshot of the catalog. Returns a promise
 * only if something has to be read, such as rows that are newly referred to.
 *
 * @throws {IndexKeyError} if a value cannot be part of a key, or a key is too long.
 * @throws {ReferenceMissingError} if the row refers to a row that does not exist.
 * @throws {UniqueConstraintError} if a recorded duplicate has a unique key that the row takes.
 */
export function planChange(
  context: TableContext,
  catalog: CatalogSnapshot,
  change: PlannedRow,
): PlannedChange | Promise<PlannedChange> {
  const row = change.row && storedForm(change.row);
  const planned = row === change.row ? change : { ...change, row };
  // Every change of a row is planned here.
  if (context.scope !== undefined) {
    if (planned.before !== null && !planned.isNew) assertInScope(context, planned.before.row);
    if (row !== null) assertInScope(context, row);
  }
  const copies = context.model.copied.size > 0 || context.links.copiedBy.length > 0;
  return copies ? planWithCopies(context, catalog, planned) : planRow(context, catalog, planned);
}

/** Plans a change of a row that copies fields of other rows, or whose fields others copy. */
async function planWithCopies(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
): Promise<PlannedChange> {
  const { before, row, isNew = false } = planned;
  if (row === null) return await planRow(context, catalog, planned);
  const references = await findReferences(context, planned, row);
  const filled = { ...planned, row: references.row };
  if (before === null || context.links.copiedBy.length === 0) {
    return await planRow(context, catalog, filled, references);
  }
  const copied = await copyToRows(context, catalog, before, filled.row, isNew);
  const change =
    copied.row === filled.row
      ? await planRow(context, catalog, filled, references)
      : await planCopied(context, catalog, { ...filled, row: copied.row });
  const copies: CopyingChange[] = [];
  for (const each of copied.copying) {
    const { primaryKey, before: found, row: copy } = each;
    const copying = { primaryKey, before: found, row: copy };
    const planOf = await planCopied(each.context, each.catalog, copying);
    copies.push({ context: each.context, catalog: each.catalog, change: planOf });
  }
  return { ...change, checks: [...change.checks, ...copied.checks], copies };
}

/** Plans a change of a row that has its copies already. */
async function planCopied(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow & { readonly row: AnyRow },
): Promise<PlannedChange> {
  const references = await findReferences(context, planned, planned.row, true);
  return await planRow(context, catalog, planned, references);
}

function planRow(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  references?: ReferenceChanges,
): PlannedChange | Promise<PlannedChange> {
  const { model } = context;
  const { primaryKey, row } = planned;
  const indexes = affectedIndexes(catalog, planned);
  const before =
    planned.before === null ? undefined : storedEntries(context, indexes, planned.before);
  const after = row === null ? undefined : indexEntries(model, indexes, row, primaryKey);
  const entries = { before, after, changes: changesOf(catalog, planned, before, after) };
  if (after !== undefined) {
    assertStorable(model, primaryKey, entries.changes.added, context.limits.keyBytes);
  }
  return whenReady(findFacts(context, catalog, planned, entries.changes, references), (facts) =>
    compose(context, catalog, planned, entries, facts),
  );
}

/** Returns the indexes that a change touches, or all if every entry of the row is needed. */
function affectedIndexes(catalog: CatalogSnapshot, planned: PlannedRow): readonly CompiledIndex[] {
  const { maintained, growingCounters, recordsCounted, entry } = catalog;
  const { before, row, isNew } = planned;
  if (before === null || row === null || isNew) return maintained;
  if (entry.live || growingCounters !== undefined || recordsCounted) return maintained;
  if (expiryOf(planned) !== undefined) return maintained;
  const stored = before.stored ?? before.row;
  return maintained.filter(
    (index) =>
      mayLackEntry(catalog, planned, index) ||
      !isUntouched(index, stored, row) ||
      catalog.summedFields(index).some((field) => stored[field] !== row[field]),
  );
}

/** True if a transform may have given a unique key of the stored row to another row. */
function mayLackEntry(
  catalog: CatalogSnapshot,
  { before }: PlannedRow,
  index: CompiledIndex,
): boolean {
  return before?.stored !== undefined && catalog.isExchanging(index);
}

function changesOf(
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  before: readonly IndexEntry[] = [],
  after: readonly IndexEntry[] = [],
): IndexChanges {
  const changes = withUncertainKeys(catalog, planned, indexChanges(before, after), after);
  // A new row takes its unique keys itself, because those of the expired row may belong to another
  // row by now.
  if (planned.isNew) return { removed: changes.removed, added: after, rewritten: [] };
  if (expiryOf(planned) === undefined) return changes;
  // No entry may outlive the row, so all entries of a row that expires are written with it.
  const added = new Set(changes.added);
  return { ...changes, rewritten: after.filter((entry) => !added.has(entry)) };
}

/** Takes the unique keys again that the row keeps, but that may belong to another row by now. */
function withUncertainKeys(
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  changes: IndexChanges,
  after: readonly IndexEntry[],
): IndexChanges {
  const uncertain = after.filter(({ index }) => mayLackEntry(catalog, planned, index));
  if (uncertain.length === 0) return changes;
  const added = new Set([...changes.added, ...uncertain]);
  const rewritten = changes.rewritten.filter((entry) => !added.has(entry));
  return { ...changes, added: [...added], rewritten };
}

/**
 * Returns the entries of a stored row. The row may have been written by hand. If an index cannot
 * hold its values, the row has no entry there, but it can still be updated or deleted.
 */
function storedEntries(
  { model, limits }: Pick<TableContext, "model" | "limits">,
  indexes: readonly CompiledIndex[],
  found: FoundRow,
): IndexEntry[] {
  try {
    const entries = indexEntries(model, indexes, found.stored ?? found.row, found.primaryKey);
    return entries.every(({ key }) => canBeStored(key, limits.keyBytes))
      ? entries
      : entries.filter(({ key }) => canBeStored(key, limits.keyBytes));
  } catch (error) {
    if (!(error instanceof IndexKeyError)) throw error;
    if (indexes.length === 1) return [];
    return indexes.flatMap((index) => storedEntries({ model, limits }, [index], found));
  }
}

function findFacts(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  { removed, added, rewritten }: IndexChanges,
  references?: ReferenceChanges,
): Facts | Promise<Facts> {
  const { before, row, primaryKey } = planned;
  const readsCounted = catalog.growingCounters !== undefined || catalog.recordsCounted;
  const read = () => {
    const others = findForeignEntries(
      context,
      rewritten.length === 0 ? removed : [...removed, ...rewritten],
    );
    const planOther = () =>
      planOtherLayout(context, catalog, before && (before.stored ?? before.row), row);
    const known = row === null || !refersToRows(context) ? noReferences : references;
    if (!readsCounted && known !== undefined) {
      return whenReady(others, (found) =>
        whenReady(planOther(), (other) => ({ others: found, other, references: known })),
      );
    }
    return readFacts(context, catalog, planned, others, planOther, known);
  };
  return catalog.hasPendingIndex
    ? refuseRecordedValues(context, catalog, added, primaryKey).then(read)
    : read();
}

async function readFacts(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  others: OtherOwners | Promise<OtherOwners>,
  planOther: () => OtherLayoutChanges | Promise<OtherLayoutChanges>,
  known: ReferenceChanges | undefined,
): Promise<Facts> {
  const { row, primaryKey } = planned;
  const found = await others;
  const other = await planOther();
  const key = countedMarkKey(context.model, primaryKey);
  const mark = catalog.growingCounters && {
    key,
    versionstamp: (await context.kv.get(key)).versionstamp,
  };
  const countedRow = catalog.recordsCounted
    ? await readCountedRow(context, catalog, primaryKey)
    : undefined;
  const references =
    known ?? (row === null ? noReferences : await findReferences(context, planned, row));
  return {
    others: found,
    other,
    ...(mark && { mark }),
    ...(countedRow && { countedRow }),
    references,
  };
}

/** Returns what keeps the references of a row valid. Those of a deleted row are not checked. */
async function findReferences(
  context: TableContext,
  { before, isNew = false, renewsReferences = false, renewsCopies = false }: PlannedRow,
  row: AnyRow,
  isCopied = false,
): Promise<CheckedReferences> {
  if (isMarked(context.model, row)) return { ...noReferences, row };
  const previous = isNew || renewsReferences ? null : before;
  const stored = previous === null ? null : (previous.stored ?? previous.row);
  const options = { stored, isCopied, renewsCopies };
  return await checkReferences(context, previous?.row ?? null, row, options);
}

function refersToRows({ model }: TableContext): boolean {
  for (const name in model.relations) {
    if (model.relations[name]?.kind === "belongsTo") return true;
  }
  return false;
}

/** Returns when the row expires. */
function expiryOf({ before, row, isNew, expiry }: PlannedRow): RowExpiry | undefined {
  if (row === null) return undefined;
  if (expiry !== undefined) return expiry;
  if (isNew || before?.expireAt === undefined) return undefined;
  return { expireAt: before.expireAt };
}

function compose(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  { before: entriesBefore, after, changes }: Entries,
  { others, other, mark, countedRow, references }: Facts,
): PlannedChange | Promise<PlannedChange> {
  const { model } = context;
  const { primaryKey, before, row, isNew = before === null } = planned;
  const expiry = expiryOf(planned);
  if (expiry !== undefined) assertNotRanked(model);
  const mutations: KvMutation[] = [...references.mutations];
  const checks: AtomicCheck[] = [...others.checks, ...other.checks, ...references.checks];
  // A delete job of an earlier row with the same key does not apply to this row.
  if (isNew && row !== null && context.links.referencedBy.length > 0) {
    mutations.push({ type: "delete", key: deleteJobKey(model, primaryKey) });
  }
  if (row !== null) assertSummable(model, catalog, row, primaryKey);
  const counters = planCounters(catalog, {
    before:
      before !== null && entriesBefore !== undefined
        ? { row: before.stored ?? before.row, entries: entriesBefore }
        : undefined,
    after: row !== null && after !== undefined ? { row, entries: after } : undefined,
    beforeExpires: planned.isNew === true || before?.expireAt !== undefined,
    afterExpires: expiry !== undefined,
    mark,
    countedRow,
  });
  checks.push(...counters.checks);
  mutations.push(...counters.mutations);
  if (catalog.entry.live) {
    const isReadBy = ({ index }: IndexEntry) => index !== catalog.other?.keyIndex;
    const touched = [...changes.removed, ...(after ?? [])].filter(isReadBy);
    for (const key of changeMarkKeys(model, touched))
      mutations.push({ type: "sum", key, value: one });
  }
  const isOwn = (entry: IndexEntry) => !others.entries.has(entry);
  const { removed, rewritten } = changes;
  const change: PlannedChange = {
    primaryKey,
    versionstamp: before?.versionstamp ?? null,
    row,
    indexes:
      others.entries.size === 0
        ? changes
        : { ...changes, removed: removed.filter(isOwn), rewritten: rewritten.filter(isOwn) },
    released: removed,
    other,
    expiry,
    expiryKey: keepsExpiry(context, catalog) ? expiryKey(model, primaryKey) : undefined,
    countedRow: counters.countedRow,
    ranked: counters.ranked,
    copies: [],
    checks,
    mutations,
  };
  if (counters.ranked.length === 0) return change;
  return placeChanges(context, counters.ranked).then((placed) => ({
    ...change,
    checks: [...checks, ...placed.checks],
    mutations: [
      ...mutations,
      ...placed.sums.map(({ key, by }) => ({ type: "sum", key, value: new KvU64(by) }) as const),
    ],
  }));
}
