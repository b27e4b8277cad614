import { isKeywrightError, type KvEntryMaybe } from "@keywright/core";
import { VersionConflictError } from "../../errors/row-errors.js";
import { IndexChangedError, IndexNotReadyError } from "../../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { LinkedRelations } from "../../model/relations/linked-relations.js";
import { awaitAll } from "../../promises/await-all.js";
import type { Capabilities, KvReads } from "../catalog/capabilities-of.js";
import { catalogShape } from "../catalog/catalog-shape.js";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import type { ModelCatalog, Versioned } from "../catalog/model-catalog.js";
import { systemValue } from "../catalog/system-value.js";
import type { TransactionKv } from "../transaction/transaction-kv.js";
import type { DatabaseSettings } from "./database-settings.js";
import type { ModelStore, TableLimits } from "./model-store.js";
import { OneState, type OneStateReads, StateChangedError } from "./one-state.js";
import { type Scope, scopedModel } from "./scope.js";
import type { RelatedModel } from "./table-context.js";

/** What a view is taken of: a table, or a model without relations. */
interface Viewed extends ModelStore, Partial<Omit<RelatedModel, "model" | "tables">> {
  readonly tables?: ReadonlyMap<string, Viewed> | undefined;
  readonly withDeleted?: boolean | undefined;
  readonly purges?: boolean | undefined;
  readonly transaction?:
    | Pick<TransactionKv, "assertCovers" | "attempt" | "seesNoPhantoms">
    | undefined;
  readonly snapshot?: unknown;
}

/** What the views of one call share. */
interface ViewsOfCall {
  /** By the names of their models. Undefined before the first one is asked for. */
  views?: Map<string, ReadView>;
  /** The state that only this call reads. Undefined within transactions and snapshots. */
  readonly state?: OneState | undefined;
  /** The catalogs that the call takes for current, because it reads them at the same time. */
  readonly assumed?: ReadonlyMap<ModelCatalog, ModelCatalog> | undefined;
}

const plainSettings: DatabaseSettings = {
  maxReads: Number.POSITIVE_INFINITY,
  validateReads: false,
  hooks: {},
  onQuery: undefined,
};

const noLinks: LinkedRelations = { relations: new Map(), referencedBy: [], copiedBy: [] };

const noTables: ReadonlyMap<string, Viewed & RelatedModel> = new Map();

/**
 * One model, as one call sees it: its reads, which of its rows the call sees, and what the catalog
 * says of it. A call takes a view at its beginning, and reads in no other way. The catalog is asked
 * when the view is taken, and when a page of a long scan begins.
 */
export class ReadView implements RelatedModel {
  readonly model: CompiledModel;
  readonly limits: TableLimits;
  readonly settings: DatabaseSettings;
  readonly links: LinkedRelations;
  readonly tables: ReadonlyMap<string, RelatedModel>;
  readonly scope: Scope | undefined;
  readonly isOutside: boolean | undefined;
  readonly withDeleted: boolean | undefined;
  readonly purges: boolean | undefined;
  readonly isInTransaction: boolean;
  /** True if several calls read the same state, which cannot be changed. */
  readonly isInSnapshot: boolean;
  /** The catalog entry of the model, as last read. Only the view itself sets it. */
  snapshot: CatalogSnapshot;
  /** True if the catalog was read shortly before the view was taken or its last page began. */
  isChecked: boolean;
  readonly #source: Viewed;
  readonly #transaction: Viewed["transaction"];
  readonly #catalog: ModelCatalog;
  #call: ViewsOfCall | undefined;
  /** True for a model that the call reads for the rows of another one. */
  #isRelated = false;
  /** The snapshot with which the view was taken. */
  readonly #first: CatalogSnapshot;

  /** @param isChecked true if the catalog was read recently enough to rely on it. */
  constructor(source: Viewed, snapshot: CatalogSnapshot, isChecked: boolean, call?: ViewsOfCall) {
    this.model = source.model;
    this.limits = source.limits;
    this.settings = source.settings ?? plainSettings;
    this.links = source.links ?? noLinks;
    this.tables = (source.tables as ReadonlyMap<string, RelatedModel> | undefined) ?? noTables;
    this.scope = source.scope;
    this.isOutside = source.isOutside;
    this.withDeleted = source.withDeleted;
    this.purges = source.purges;
    this.isInTransaction = source.transaction !== undefined;
    this.isInSnapshot = source.snapshot !== undefined;
    this.#source = source;
    this.#catalog = call?.assumed?.get(source.catalog) ?? source.catalog;
    this.#call = call;
    this.#first = snapshot;
    this.snapshot = snapshot;
    this.isChecked = isChecked;
    this.#transaction = source.transaction;
    this.#transaction?.assertCovers(snapshot.check.versionstamp);
  }

  /**
   * The reads of the call. Asked for by each read, after it has chosen its keys.
   *
   * @throws {StateChangedError} if the catalog is newer than the state of the call.
   */
  get kv(): KvReads {
    const state = this.#call?.state;
    if (state === undefined) return this.#source.kv;
    state.assertCovers(this.#catalog.snapshot, this.#isRelated);
    return state;
  }

  get capabilities(): Capabilities {
    return this.#catalog.capabilities;
  }

  /**
   * True if the read belongs to a transaction that notices only by the change marks of the model
   * that a row enters a range.
   */
  get needsChangeMarks(): boolean {
    const transaction = this.#transaction;
    return this.model.live && transaction !== undefined && !transaction.seesNoPhantoms;
  }

  /** The model in the database, for the upkeep that a read finds necessary. */
  get store(): ModelStore {
    const { model, limits, catalog } = this.#source;
    return { kv: catalog.database, model, limits, catalog };
  }

  /**
   * The model with which reads are planned. It has the definition in the catalog, and only the
   * indexes that the read can use.
   *
   * - A read that also returns deleted rows uses no index, because indexes do not contain them.
   * - A read within a scope uses the indexes whose keys have the stored values of the scope's
   *   fields. With others, the conditions of the scope could select rows outside of it.
   */
  get queriedModel(): CompiledModel {
    const { readModel } = this.snapshot;
    if (this.withDeleted) return { ...readModel, indexes: [] };
    return this.scope === undefined ? readModel : scopedModel(readModel, Object.keys(this.scope));
  }

  /** Returns the view that this call has of another model. */
  of({ name }: CompiledModel): ReadView {
    this.#call ??= {};
    this.#call.views ??= new Map();
    const { views } = this.#call;
    let view = views.get(name);
    if (view === undefined) {
      const source = this.#source.tables!.get(name)!;
      view = new ReadView(source, source.catalog.snapshot, false, this.#call);
      view.#isRelated = true;
      views.set(name, view);
    }
    return view;
  }

  /** True if an index can be read, according to the snapshot. Rows can always be read. */
  canRead(index: CompiledIndex | undefined): boolean {
    return index === undefined || this.snapshot.canRead(index);
  }

  /**
   * Reads the catalog, unless it was read recently.
   *
   * @throws {PrimaryKeyDiffersError} if the database stores the rows by another primary key.
   */
  async refresh(): Promise<void> {
    await this.#catalog.assertSameKey();
    this.#setSnapshot();
  }

  /** Reads the catalog. Throws the errors of {@link refresh}. */
  async reload(): Promise<void> {
    await this.#catalog.reload();
    this.#catalog.snapshot.assertSameKey();
    this.#setSnapshot();
  }

  /**
   * Reads the catalog if another program has recorded that rows of the model expire. Returns true
   * if the data has to be read again for that reason.
   *
   * @param stored the catalog entry, as it was read with the data.
   * @param before entries that were read before it.
   * @throws {StateChangedError} if the data has to be read again by a new view.
   */
  async learnsOfExpiry(
    stored: KvEntryMaybe<unknown>,
    before: readonly Versioned[],
  ): Promise<boolean> {
    if (stored.versionstamp === this.snapshot.check.versionstamp) {
      this.#catalog.confirmFor(this.snapshot, before);
      return false;
    }
    if (systemValue(stored, catalogShape, this.model.name)?.expires !== true) return false;
    await this.reload();
    if (this.snapshot.entry.expires !== true) return false;
    // The catalog may be newer than the state of the call.
    this.#call?.state?.leave();
    return true;
  }

  /** True if the catalog is known to have been the same when entries were written. */
  isCurrentFor(entries: readonly Versioned[]): boolean {
    return this.#catalog.isCurrentFor(this.snapshot, entries);
  }

  /** @throws {IndexNotReadyError} or {IndexChangedError} if the index cannot be read. */
  async assertReadable(index: CompiledIndex): Promise<void> {
    await this.#catalog.assertReadable(index);
    this.#setSnapshot();
  }

  /**
   * Begins a page of a scan. Returns a promise if the catalog has to be read.
   *
   * @throws the errors of {@link assertReadable}, or of {@link refresh} without an index.
   */
  beginPage(index: CompiledIndex | undefined): Promise<void> | undefined {
    // Related rows are read from the state of the rows to which they are related.
    if (!this.#isRelated) this.#call?.state?.beginPage();
    const catalog = this.#catalog;
    if (index === undefined ? catalog.isKeyKnown : catalog.isReadable(index)) {
      this.#setSnapshot();
      return undefined;
    }
    return index === undefined ? this.refresh() : this.assertReadable(index);
  }

  /**
   * Keeps the state of the call while other work of the process has its turn.
   *
   * @throws {StateChangedError} if the database has changed since the first read.
   */
  holdState(): void {
    this.#call?.state?.hold();
  }

  /**
   * Returns whether the snapshot determines the schema of rows that were just read. If it does not,
   * they have to be read again: a change of all rows may have begun or ended in between.
   */
  determinesSchema(
    rows: readonly ({ readonly versionstamp: string | null } | undefined)[],
  ): boolean | Promise<boolean> {
    const snapshot = this.snapshot;
    if (!snapshot.upgradesRows && !this.#catalog.snapshot.upgradesRows) return true;
    const versionstamps = rows.map((row) => row?.versionstamp ?? null);
    return this.#catalog.determinesSchema(snapshot, versionstamps).then((isDetermined) => {
      this.#setSnapshot();
      // In the state of the call, the rows stay as they are, although the catalog has changed.
      if (!isDetermined) this.#call?.state?.leave();
      return isDetermined;
    });
  }

  /**
   * True if a read has failed because the database has changed during the read, or because its
   * index was replaced or dropped. Within a transaction, such a change is not an error of the read:
   * the transaction itself notices it.
   */
  isOutdatedBy(error: unknown): boolean {
    if (error instanceof StateChangedError) return true;
    if (error instanceof VersionConflictError) return !this.isInTransaction && !this.isOneState;
    if (isEnded(error)) return this.#call?.state !== undefined;
    const isUnreadable = error instanceof IndexNotReadyError || error instanceof IndexChangedError;
    const others = this.#call?.views?.values() ?? [];
    return isUnreadable && [this, ...others].some((view) => view.#hasChanged);
  }

  /**
   * True if all reads of the view see one state of the database. False in a transaction, whose own
   * writes may come between them.
   */
  get isOneState(): boolean {
    return this.isInSnapshot || this.#call?.state !== undefined;
  }

  /**
   * The last commit of the state that the view has begun to read. Undefined if it is not known.
   */
  get versionstamp(): string | undefined {
    return this.#call?.state?.versionstamp;
  }

  /** Makes a read with a new view, as {@link withReadView} does. */
  readAgain<T>(read: (view: ReadView) => Promise<T>): Promise<T> {
    return readAgain(this.#source, read);
  }

  /** The number of the attempt of the transaction, from 1. */
  get attempt(): number {
    return this.#transaction?.attempt ?? 1;
  }

  /** Frees what the view holds, after its last read. */
  end(): void {
    this.#call?.state?.close();
  }

  get #hasChanged(): boolean {
    return this.#catalog.snapshot !== this.#first;
  }

  #setSnapshot(): void {
    this.snapshot = this.#catalog.snapshot;
    this.isChecked = true;
    this.#transaction?.assertCovers(this.snapshot.check.versionstamp);
  }
}

/** Returns a view by a snapshot of the catalog: by default the last one read, however old it is. */
export function viewOf(
  source: Viewed,
  snapshot: CatalogSnapshot = source.catalog.snapshot,
): ReadView {
  return new ReadView(source, snapshot, false);
}

/** Makes the result of a call from what it has read. It may read more through the view. */
type Shape<Found, Result> = (view: ReadView, found: Found) => Result | Promise<Result>;

/**
 * Takes a view of a model for a read, and ends it after the read. Catalogs that were not read
 * recently are read again at the same time. The read is repeated with a new view in three cases:
 * its reads did not see one state of the database, a catalog has changed, or an index that it uses
 * was replaced or dropped.
 *
 * @param models further models whose rows it reads.
 * @param shape makes the result from what was read. The default returns it.
 * @param isOfOneRow true if it reads one row by a unique key. It then checks itself that the entry
 * belongs to the row, so it opens no view if that takes a message to a server.
 * @throws {PrimaryKeyDiffersError} if the database stores the rows by another primary key.
 * @throws {VersionConflictError} if a database without views changes during each of several reads.
 */
export function withReadView<Found, Result = Found>(
  source: Viewed,
  models: readonly CompiledModel[],
  read: (view: ReadView) => Promise<Found>,
  shape: Shape<Found, Result> = (_, found) => found as never,
  isOfOneRow = false,
): Promise<Result> {
  if (models.length > 0 || !source.catalog.isKeyKnown)
    return readBeside(source, models, async (view) => await shape(view, await read(view)));
  const isLocal = source.catalog.capabilities.lastVersionstamp !== undefined;
  const call = isOfOneRow && !isLocal ? undefined : callOf(source);
  const view = new ReadView(source, source.catalog.snapshot, true, call);
  const fail = (error: unknown): Promise<Result> => {
    view.end();
    if (!view.isOutdatedBy(error)) throw error;
    return readAgain(source, async (current) => await shape(current, await read(current)));
  };
  // Without an async function, because each promise takes time, and most calls come here.
  return read(view).then((found) => {
    try {
      const result = shape(view, found);
      if (!(result instanceof Promise)) {
        view.end();
        return result;
      }
      return result.then((shaped) => {
        view.end();
        return shaped;
      }, fail);
    } catch (error) {
      return fail(error);
    }
  }, fail);
}

/**
 * Takes a view for a stream, which ends the view. Each page of the stream sees one state of the
 * database. A query with conditions on related rows is different: its walk through their indexes
 * continues from one page to the next.
 */
export async function takeReadView(
  source: Viewed,
  { related }: { readonly related?: unknown },
): Promise<ReadView> {
  const call = related === undefined ? callOf(source, "pages") : undefined;
  const view = new ReadView(source, source.catalog.snapshot, false, call);
  await view.refresh();
  return view;
}

function callOf(
  { kv, catalog, transaction, snapshot }: Viewed,
  reads: OneStateReads = "keys",
  assumed?: ReadonlyMap<ModelCatalog, ModelCatalog>,
): ViewsOfCall {
  const { capabilities } = catalog;
  const isShared = transaction !== undefined || snapshot !== undefined;
  const hasState = !isShared && capabilities.hasViews;
  const state = hasState ? new OneState(kv, capabilities, reads) : undefined;
  return { state, assumed };
}

/**
 * How often a read is made at most. It is repeated if its view ends, for example because the
 * connection is lost, or if a database without views changes during the read.
 */
const maxAttempts = 5;

async function readAgain<T>(source: Viewed, read: (view: ReadView) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const view = new ReadView(source, source.catalog.snapshot, true, callOf(source, "all"));
    try {
      return await read(view);
    } catch (error) {
      const isLimited = isEnded(error) || error instanceof VersionConflictError;
      if (!view.isOutdatedBy(error) || (isLimited && attempt >= maxAttempts)) throw error;
    } finally {
      view.end();
    }
  }
}

async function readBeside<T>(
  source: Viewed,
  models: readonly CompiledModel[],
  read: (view: ReadView) => Promise<T>,
): Promise<T> {
  const { catalog, tables = noTables } = source;
  const others = models.flatMap(({ name }) => tables.get(name)?.catalog ?? []);
  const catalogs = new Set([catalog, ...others]);
  const due = [...catalogs].filter(({ isFresh }) => !isFresh);
  const snapshots = due.map(({ snapshot }) => snapshot);
  if (due.length > 0 && catalog.snapshot.hasSameKey) {
    const assumed = new Map(due.map((each) => [each, each.assumed()]));
    const call = callOf(source, "all", assumed);
    const view = new ReadView(source, catalog.snapshot, true, call);
    const [[outcome], reloads] = await awaitAll([
      Promise.allSettled([read(view)]),
      Promise.allSettled(due.map((each) => each.reload())),
    ]);
    view.end();
    for (const reload of reloads) if (reload.status === "rejected") throw reload.reason;
    const isUnchanged = due.every(({ snapshot }, i) => snapshot === snapshots[i]);
    if (isUnchanged && outcome.status === "fulfilled") return outcome.value;
    if (isUnchanged && outcome.status === "rejected" && !view.isOutdatedBy(outcome.reason))
      throw outcome.reason;
  }
  await catalog.assertSameKey();
  return await readAgain(source, read);
}

function isEnded(error: unknown): boolean {
  return isKeywrightError(error) && error.code === "KW_READ_VIEW_ENDED";
}
