import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import { VersionConflictError } from "../../errors/row-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import type { Reference } from "../../model/relations/linked-relations.js";
import { awaitAll } from "../../promises/await-all.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { TableContext } from "../../state/context/table-context.js";
import { referenceGuardKey } from "../../state/references/guard-keys.js";
import { rowIdOf } from "../../state/references/referenced-key.js";
import {
  beginSearches,
  firstPage,
  firstPageOfEach,
  firstReferrer,
  type Referrer,
  type ReferrerCursor,
  type ReferrerSearch,
  searchesWereComplete,
  tableOfModel,
  withMarkedReferrers,
} from "../../state/references/referrers.js";
import type { KeyId } from "../../state/transaction/buffer/key-id.js";
import type { CascadeBudget } from "./cascade-budget.js";

/**
 * A frame of the depth-first search: a row that is deleted after all of its referrers. The first
 * frame of a stack is that of the root, the row whose deletion was requested. Each other frame is a
 * referrer of the row in the frame before it, its parent.
 */
export interface CascadeFrame {
  readonly id: KeyId;
  readonly model: CompiledModel;
  readonly primaryKey: readonly KvKeyPart[];
  /** Undefined for the root. */
  readonly parentReference: ParentReference | undefined;
  /**
   * The versionstamp of the row's guard before the search for its referrers began. Null if there
   * was no guard; undefined if the search has not begun.
   */
  readonly guardVersionstamp: string | null | undefined;
  readonly searches: readonly ReferrerSearch[];
  readonly cursor: ReferrerCursor;
  /** How many times the search began again. */
  readonly restarts: number;
}

export interface ParentReference {
  readonly fields: readonly string[];
  readonly parentKey: readonly KvKeyPart[];
}

/** The tables that a walk uses, each with reads and writes in a transaction or outside of it. */
export interface CascadeTables {
  /** For deletes and changes of rows, always in the transaction. */
  readonly writes: ReadonlyMap<string, TableContext>;
  /** For the first read of rows and guards. In the transaction, its commit checks them. */
  readonly reads: ReadonlyMap<string, TableContext>;
  /** For the search for referrers. */
  readonly lists: ReadonlyMap<string, TableContext>;
}

export interface CascadeWalkOptions {
  readonly tables: CascadeTables;
  readonly budget: CascadeBudget;
  readonly meter: ReadMeter;
  /** The maximum length of the stack. The walk ends when the stack gets longer. */
  readonly maxDepth: number;
  /** Deletes the root. Resolves to undefined if it no longer exists. */
  readonly deleteRoot: (context: TableContext) => Promise<FoundRow | undefined>;
}

/** A walk with what it remembers. */
export interface CascadeWalk extends CascadeWalkOptions {
  /** Frames whose search has begun before the walk reaches them, by the ids of their rows. */
  readonly begun: Map<KeyId, CascadeFrame>;
  /** The rows on the stack, and the rows that the walk has deleted. */
  readonly visited: Set<KeyId>;
  /**
   * Row → a referrer that restricts its deletion. The walk has deleted or cleared this referrer, so
   * searches in the transaction no longer find it.
   */
  readonly writtenRestrictions: Map<KeyId, Referrer>;
}

const maxRestarts = 100;

export function createFrame(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  parentReference?: ParentReference,
): CascadeFrame {
  return {
    id: rowIdOf(model, primaryKey),
    model,
    primaryKey,
    parentReference,
    guardVersionstamp: undefined,
    searches: [],
    cursor: firstReferrer,
    restarts: 0,
  };
}

/**
 * Begins the search for the referrers of a row. Its guard is read before the first list. References
 * that restrict come first, so that a deletion is refused early.
 */
export async function beginFrame(
  { reads, writes, lists }: CascadeTables,
  frame: CascadeFrame,
): Promise<CascadeFrame> {
  const { model, primaryKey } = frame;
  const assumes = checksCatalogs(tableOfModel(writes, model));
  const table = tableOfModel(reads, model);
  const searches = await beginSearches(lists, searchedReferences(table), assumes);
  const { versionstamp } = await table.kv.get(referenceGuardKey(model, primaryKey));
  return { ...frame, guardVersionstamp: versionstamp, searches };
}

/**
 * Begins the search for the referrers of a root before the transaction that deletes it, and reads
 * the first referrers. The commit must check the guard, and the catalogs of the searches.
 *
 * @param guard was read before.
 */
export async function beginRoot(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  guard: KvEntryMaybe<unknown>,
): Promise<CascadeFrame> {
  const { model, tables } = context;
  const searches = await beginSearches(tables, searchedReferences(context), true);
  const cursor = await firstPageOfEach(tables, searches, primaryKey);
  const guardVersionstamp = guard.versionstamp;
  return { ...createFrame(model, primaryKey), guardVersionstamp, searches, cursor };
}

/** True if the search of a frame has ended. */
export function isSearched({ searches, cursor }: CascadeFrame): boolean {
  return cursor.position === searches.length;
}

/** Returns the references by which the deletion of a row of a table searches for referrers. */
function searchedReferences({ model, links, purges }: TableContext): Reference[] {
  // References to a row that is only marked stay, so that they lead to it again if it is restored.
  // They are cleared if it is removed.
  const isMarking = model.softDelete !== undefined && purges !== true;
  const rules = isMarking
    ? links.referencedBy.filter(({ onDelete }) => onDelete !== "setNull")
    : links.referencedBy;
  const restricting = rules.filter(({ onDelete }) => onDelete === "restrict");
  const others = withMarkedReferrers(rules.filter(({ onDelete }) => onDelete !== "restrict"));
  return [...restricting, ...others];
}

/** A database with fewer checks per commit is not asked to check the catalogs of searches. */
const minChecks = 50;

/** True if the commits of a database may check the catalogs of searches. */
export function acceptsCatalogChecks({ limits }: TableContext): boolean {
  return limits.checks >= minChecks;
}

/** True if the commit checks the catalogs of searches, so that they are not read again. */
function checksCatalogs(context: TableContext): boolean {
  return context.transaction?.mayAssume === true && acceptsCatalogChecks(context);
}

/**
 * True if no row can refer to the row except those that were visited. The commit checks the guard.
 * It also checks the catalogs of the searches if it may assume that they have not changed.
 * Otherwise they are read again.
 */
export async function isUnreferenced(
  { writes, lists }: CascadeTables,
  { model, primaryKey, guardVersionstamp = null, searches }: CascadeFrame,
): Promise<boolean> {
  const { kv, transaction } = tableOfModel(writes, model);
  const guard = { key: referenceGuardKey(model, primaryKey), versionstamp: guardVersionstamp };
  if (checksCatalogs(tableOfModel(writes, model))) {
    for (const { catalog } of searches) transaction?.addCheck(catalog.check);
    return (await kv.atomic().check(guard).commit()).ok;
  }
  const [{ ok }, areComplete] = await awaitAll([
    kv.atomic().check(guard).commit(),
    searchesWereComplete(lists, searches),
  ]);
  return ok && areComplete;
}

/** Begins the search of a frame, and reads the first of the referrers. */
export async function beginSearch(
  tables: CascadeTables,
  frame: CascadeFrame,
): Promise<CascadeFrame> {
  const begun = await beginFrame(tables, frame);
  const cursor = await firstPage(tables.lists, begun.searches, begun.primaryKey);
  return { ...begun, cursor };
}

/** @throws {VersionConflictError} if the frame has already restarted 100 times. */
export function restartFrame(frame: CascadeFrame): CascadeFrame {
  const { model, primaryKey, parentReference, restarts } = frame;
  if (restarts === maxRestarts) {
    throw new VersionConflictError(model.name, pointerOf(primaryKey), restarts);
  }
  return { ...createFrame(model, primaryKey, parentReference), restarts: restarts + 1 };
}
