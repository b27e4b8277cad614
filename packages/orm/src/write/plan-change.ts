import type { AtomicCheck, KvKeyPart, KvMutation } from "@keywright/core";
import { KvU64 } from "@keywright/core";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import { countedMarkKey } from "../catalog/counting-state.js";
import { changeMarkKeys } from "../indexes/change-marks.js";
import {
  type IndexChanges,
  type IndexEntry,
  indexChanges,
  indexEntries,
} from "../indexes/index-entries.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { FoundRow } from "../query/any-query.js";
import type { TableContext } from "../query/table-context.js";
import { checkReferences } from "../relations/check-references.js";
import type { CommitExtras } from "../relations/commit-extras.js";
import { counterChanges } from "./counter-changes.js";
import { type OwnEntries, ownEntries } from "./own-entries.js";
import { expiryRecord, keepsExpiry, rowTimeLeft } from "./row-expiry.js";

/** A change of one row with all that goes with it. */
export interface RowChange {
  readonly primaryKey: readonly KvKeyPart[];
  /** The versionstamp of the row that the change was made for, null where there was none. */
  readonly versionstamp: string | null;
  /** The row as it is to be, null where it is to go. */
  readonly row: AnyRow | null;
  readonly indexes: IndexChanges;
  /** For how long the row and its entries will be there, in milliseconds; undefined for ever. */
  readonly expireIn: number | undefined;
  /** What else has to hold, such as how the unique entries were that decided what becomes of them. */
  readonly checks: readonly AtomicCheck[];
  /** What else is written: counts, marks of the change, guards of rows that are referred to. */
  readonly mutations: readonly KvMutation[];
}

/** What a change is made of. */
export interface PlannedRow {
  readonly primaryKey: readonly KvKeyPart[];
  /** The row that is there, null for a new one. */
  readonly before: FoundRow | null;
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
  readonly expireIn: number | undefined;
  /** Of the entries that go, and of those that are written anew. */
  readonly own: OwnEntries;
  /** The mark that counters which are being built hold the row; undefined where none is. */
  readonly mark: AtomicCheck | undefined;
  readonly references: CommitExtras;
}

const one = new KvU64(1n);
const noReferences: CommitExtras = { checks: [], mutations: [] };

/**
 * Plans all that a change of a row writes, by one reading of the catalog. A promise only where something has to be read:
 * who has a unique entry that goes, rows that are referred to newly, and how long a row lives where the database does not
 * tell.
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
  const entriesOf = (of: AnyRow) => indexEntries(model, catalog.maintained, of, primaryKey);
  const before = planned.before === null ? undefined : entriesOf(planned.before.row);
  const after = row === null ? undefined : entriesOf(row);
  const entries = { before, after, changes: indexChanges(before ?? [], after ?? []) };
  const facts = findFacts(context, catalog, planned, entries);
  return facts instanceof Promise
    ? facts.then((found) => compose(context, catalog, planned, entries, found))
    : compose(context, catalog, planned, entries, facts);
}

function findFacts(
  context: TableContext,
  catalog: CatalogSnapshot,
  planned: PlannedRow,
  { after = [], changes }: Entries,
): Facts | Promise<Facts> {
  const { model } = context;
  const { before, row, primaryKey } = planned;
  const left = expiryOf(context, catalog, planned);
  const references = refersToRows(context) && row !== null;
  const marks = catalog.growingCounters !== undefined;
  // Nothing may outlive the row: all of its entries are written with it where it expires.
  const rewritten = (expireIn: number | undefined) =>
    expireIn === undefined
      ? changes.rewritten
      : after.filter((entry) => !changes.added.includes(entry));
  const ownOf = (expireIn: number | undefined) =>
    ownEntries(context, [...changes.removed, ...rewritten(expireIn)]);
  if (!(left instanceof Promise) && !references && !marks) {
    const own = ownOf(left);
    const facts = (found: OwnEntries): Facts => ({
      expireIn: left,
      own: found,
      mark: undefined,
      references: noReferences,
    });
    return own instanceof Promise ? own.then(facts) : facts(own);
  }
  const read = async (): Promise<Facts> => {
    const expireIn = await left;
    const own = await ownOf(expireIn);
    const key = countedMarkKey(model, primaryKey);
    const mark = marks
      ? { key, versionstamp: (await context.kv.get(key)).versionstamp }
      : undefined;
    const extras = references
      ? await checkReferences(context, before?.row ?? null, row)
      : noReferences;
    return { expireIn, own, mark, references: extras };
  };
  return read();
}

function refersToRows({ model }: TableContext): boolean {
  for (const name in model.relations) {
    if (model.relations[name]?.kind === "belongsTo") return true;
  }
  return false;
}

/** For how long the row will be there: as long as it was to be before, where nothing else is asked for. */
function expiryOf(
  context: TableContext,
  catalog: CatalogSnapshot,
  { before, row, expireIn }: PlannedRow,
): number | undefined | Promise<number | undefined> {
  if (expireIn !== undefined || before === null || row === null) return expireIn;
  return rowTimeLeft(context, catalog, before);
}

function compose(
  context: TableContext,
  catalog: CatalogSnapshot,
  { primaryKey, before, row }: PlannedRow,
  { before: old, after, changes }: Entries,
  { expireIn, own, mark, references }: Facts,
): RowChange {
  const { model } = context;
  const { counters, growingCounters } = catalog;
  const mutations: KvMutation[] = [...references.mutations];
  const checks: AtomicCheck[] = [...own.checks, ...references.checks];
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
  if (keepsExpiry(context, catalog)) mutations.push(expiryRecord(model, primaryKey, expireIn));
  const removed = changes.removed.filter((entry) => own.entries.has(entry));
  const { added } = changes;
  const rewritten = (after ?? []).filter((entry) => own.entries.has(entry));
  return {
    primaryKey,
    versionstamp: before?.versionstamp ?? null,
    row,
    indexes: { removed, added, rewritten },
    expireIn,
    checks,
    mutations,
  };
}
