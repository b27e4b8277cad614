import type { AtomicCheck, KvKey, KvKeyPart, KvMutation } from "@keywright/core";
import { KvU64 } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import { countedMarkKey } from "../../catalog/counting-state.js";
import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { IndexKeyError } from "../../errors/row-errors.js";
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
import { checkReferences } from "../../relations/check-references.js";
import type { CommitExtras } from "../../relations/commit-extras.js";
import { deleteJobKey } from "../../relations/guard-keys.js";
import { counterChanges } from "./counter-changes.js";
import { entriesOfOthers, type OtherOwners } from "./entries-of-others.js";
import { expiryKey, keepsExpiry, type RowExpiry } from "./row-expiry.js";

/** A change of one row with all that goes with it. */
export interface RowChange {
  readonly primaryKey: readonly KvKeyPart[];
  /** The versionstamp of the row that the change was made for, null where there was none. */
  readonly versionstamp: string | null;
  /** The row as it is to be, null where it is to go. */
  readonly row: AnyRow | null;
  readonly indexes: IndexChanges;
  /** The entries that the row before has and the row after has not, whether they are its own or those of another row. */
  readonly released: readonly IndexEntry[];
  /** When the row and its entries go; undefined where they stay. */
  readonly expiry: RowExpiry | undefined;
  /** Where the time of that is written down; undefined where the database tells it. */
  readonly expiryKey: KvKey | undefined;
  /** What else has to hold, such as how the unique entries were that decided what becomes of them. */
  readonly checks: readonly AtomicCheck[];
  /** What else is written: counts, marks of the change, guards of rows that are referred to. */
  readonly mutations: readonly KvMutation[];
}

/** What a change is made of. */
export interface PlannedRow {
  readonly primaryKey: readonly KvKeyPart[];
  /** The row that is there, with the time at which it goes; null for a new one. */
  readonly before: FoundRow | null;
  /** Whether `row` is a new one all the same: what is there has expired, and nothing but its entries matters. */
  readonly isNew?: boolean;
  /** The row that is to be there, null where it is to go. */
  readonly row: AnyRow | null;
  /** For how long, in milliseconds; undefined where that stays as it is. */
  readonly expireIn: number | undefined;
}

/** The entries of a row before and after a change. */
interface Entries {
  readonly before: readonly IndexEntry[] | undefined;
  readonly after: readonly IndexEntry[] | undefined;
  readonly changes: IndexChanges;
}

/** What had to be read to plan a change. */
interface Facts {
  readonly expiry: RowExpiry | undefined;
  /** The entries that are written anew. */
  readonly rewritten: readonly IndexEntry[];
  /** Of these, and of the entries that go. */
  readonly others: OtherOwners;
  /** The mark that counters which are being built hold the row; undefined where none is. */
  readonly mark: AtomicCheck | undefined;
  readonly references: CommitExtras;
}

const one = new KvU64(1n);
const noReferences: CommitExtras = { checks: [], mutations: [] };

/**
 * Plans all that a change of a row writes, by one reading of the catalog. A promise only where something has to be read:
 * who has a unique entry that goes, and rows that are referred to newly.
 *
 * @throws {IndexKeyError} for a value that cannot be part of a key.
 * @throws {ReferenceMissingError} where the row refers to one that is not there.
 */
export function planChange(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
): RowChange | Promise<RowChange> {
  const { model } = context;
  const { primaryKey, row } = planned;
  const indexes = concernedIndexes(catalog, planned);
  const before =
    planned.before === null ? undefined : storedEntries(context, indexes, planned.before);
  const after = row === null ? undefined : indexEntries(model, indexes, row, primaryKey);
  const entries = { before, after, changes: changesOf(planned, before, after) };
  const facts = findFacts(context, catalog, planned, entries);
  return facts instanceof Promise
    ? facts.then((found) => compose(context, catalog, planned, entries, found))
    : compose(context, catalog, planned, entries, facts);
}

/**
 * The indexes whose entries a change is about: not those that it leaves as they are, where nothing else is done with each
 * entry of the row.
 */
function concernedIndexes(
  { maintained, growingCounters, entry }: CatalogSnapshot,
  planned: PlannedRow,
): readonly CompiledIndex[] {
  const { before, row, isNew } = planned;
  if (before === null || row === null || isNew) return maintained;
  if (entry.live || growingCounters !== undefined || expiryOf(planned) !== undefined) {
    return maintained;
  }
  const stored = before.stored ?? before.row;
  return maintained.filter((index) => !isUntouched(index, stored, row));
}

function changesOf(
  { isNew = false }: PlannedRow,
  before: readonly IndexEntry[] = [],
  after: readonly IndexEntry[] = [],
): IndexChanges {
  const changes = indexChanges(before, after);
  // A new row takes its unique keys: those that the expired one had may be another row's by now.
  return isNew ? { removed: changes.removed, added: [...after], rewritten: [] } : changes;
}

/**
 * The entries of a row that is there. It may be written by hand: an index that cannot hold its values has none of it, and
 * that must not keep the row from being put right or deleted.
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
  { after = [], changes }: Entries,
): Facts | Promise<Facts> {
  const { model } = context;
  const { before, row, primaryKey, isNew = false } = planned;
  const expiry = expiryOf(planned);
  const references = refersToRows(context) && row !== null;
  const marks = catalog.growingCounters !== undefined;
  // Nothing may outlive the row: all of its entries are written with it where it expires.
  const rewritten = expiry === undefined ? changes.rewritten : without(after, changes.added);
  const others = entriesOfOthers(
    context,
    rewritten.length === 0 ? changes.removed : [...changes.removed, ...rewritten],
  );
  if (!references && !marks) {
    const facts = (found: OtherOwners): Facts => ({
      expiry,
      rewritten,
      others: found,
      mark: undefined,
      references: noReferences,
    });
    return others instanceof Promise ? others.then(facts) : facts(others);
  }
  const read = async (): Promise<Facts> => {
    const known = await others;
    const key = countedMarkKey(model, primaryKey);
    const mark = marks
      ? { key, versionstamp: (await context.kv.get(key)).versionstamp }
      : undefined;
    const extras = references
      ? await checkReferences(context, isNew ? null : (before?.row ?? null), row)
      : noReferences;
    return { expiry, rewritten, others: known, mark, references: extras };
  };
  return read();
}

function refersToRows({ model }: TableContext): boolean {
  for (const name in model.relations) {
    if (model.relations[name]?.kind === "belongsTo") return true;
  }
  return false;
}

function without(entries: readonly IndexEntry[], others: readonly IndexEntry[]): IndexEntry[] {
  const excluded = new Set(others);
  return entries.filter((entry) => !excluded.has(entry));
}

/** When the row goes: when it was to go before, where nothing else is asked for. */
function expiryOf({ before, row, isNew, expireIn }: PlannedRow): RowExpiry | undefined {
  if (row === null) return undefined;
  if (expireIn !== undefined) return { expireIn };
  if (isNew || before?.expireAt === undefined) return undefined;
  return { expireAt: before.expireAt };
}

function compose(
  context: TableContext,
  catalog: CatalogSnapshot,
  { primaryKey, before, row, isNew = before === null }: PlannedRow,
  { before: old, after, changes }: Entries,
  { expiry, rewritten, others, mark, references }: Facts,
): RowChange {
  const { model } = context;
  const { counters, growingCounters } = catalog;
  const mutations: KvMutation[] = [...references.mutations];
  const checks: AtomicCheck[] = [...others.checks, ...references.checks];
  // That a row was being deleted which had the key before says nothing of this one.
  if (isNew && row !== null && context.links.referencedBy.length > 0) {
    mutations.push({ type: "delete", key: deleteJobKey(model, primaryKey) });
  }
  if (counters !== undefined) mutations.push(...counterChanges(model, counters, old, after));
  if (growingCounters !== undefined && mark !== undefined) {
    const counted = mark.versionstamp === null ? undefined : old;
    checks.push(mark);
    mutations.push(...counterChanges(model, growingCounters, counted, after));
    mutations.push(
      after === undefined
        ? { type: "delete", key: mark.key }
        : { type: "set", key: mark.key, value: true },
    );
  }
  if (catalog.entry.live) {
    const touched = [...changes.removed, ...(after ?? [])];
    for (const key of changeMarkKeys(model, touched))
      mutations.push({ type: "sum", key, value: one });
  }
  const isOwn = (entry: IndexEntry) => !others.entries.has(entry);
  const indexes =
    others.entries.size === 0
      ? { removed: changes.removed, added: changes.added, rewritten }
      : {
          removed: changes.removed.filter(isOwn),
          added: changes.added,
          rewritten: rewritten.filter(isOwn),
        };
  return {
    primaryKey,
    versionstamp: before?.versionstamp ?? null,
    row,
    indexes,
    released: changes.removed,
    expiry,
    expiryKey: keepsExpiry(context, catalog) ? expiryKey(model, primaryKey) : undefined,
    checks,
    mutations,
  };
}
