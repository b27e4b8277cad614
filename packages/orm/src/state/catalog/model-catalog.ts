import type { Kv, KvEntry, KvEntryMaybe } from "@keywright/core";
import {
  IndexNotReadyError,
  ModelDroppedError,
  StaleSchemaError,
} from "../../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { RowMigration } from "../schema/define-migration.js";
import type { RowManifest } from "../schema/manifests/manifest.js";
import { relationTexts, unfilledCopies } from "../schema/manifests/model-manifest.js";
import { rowManifest, storedManifest } from "../schema/manifests/row-manifest.js";
import { readBackfill, storedProgress } from "./backfill-state.js";
import { type Capabilities, capabilitiesOf } from "./capabilities-of.js";
import {
  type CatalogEntry,
  catalogKey,
  definitionOf,
  isBeingDropped,
  placeOf,
  type StoredIndex,
  storedIndex,
  withFormat,
} from "./catalog-entry.js";
import { catalogShape } from "./catalog-shape.js";
import { CatalogSnapshot } from "./catalog-snapshot.js";
import { hasEntries } from "./has-entries.js";
import { isReadOnlyKv } from "./read-only-kv.js";
import {
  type ProgramRows,
  readRowManifest,
  recordEarlierSchemas,
  rowManifestKey,
} from "./row-manifests.js";
import { readRowSchemas } from "./row-schemas.js";
import { withCode, withStoredIndexes } from "./stored-indexes.js";
import { systemValue } from "./system-value.js";

/** What is known of a catalog entry. */
interface CatalogState {
  snapshot: CatalogSnapshot;
  /** The time at which the entry was last read, in milliseconds of the monotonic clock. */
  readAt: number;
  resolvePending: ((index: CompiledIndex) => Promise<void>) | undefined;
  /** The snapshot is known to be current for rows up to this versionstamp. */
  holdsUntil: string;
  /** What {@link ModelCatalog.recordUnfilled} has not stored, because the database is read-only. */
  unfilled: readonly string[];
}

/** What a program knows of a model when it opens the catalog. */
interface OpenOptions {
  /** The migrations from earlier schemas to that of the model. */
  readonly migrations?: readonly RowMigration[] | undefined;
  /** The model's `belongsTo` relations, as `relationTexts` returns them. */
  readonly relations?: readonly string[] | undefined;
  /** The entry, if it was just read together with those of other models. */
  readonly stored?: ReadCatalogEntry | undefined;
}

/** The version of an entry. Null if it does not exist. */
export interface Versioned {
  readonly versionstamp: string | null;
}

interface ReadCatalogEntry {
  readonly entry: KvEntryMaybe<CatalogEntry>;
  /** The time before the read, in milliseconds of the monotonic clock. */
  readonly readAt: number;
}

/** Sorts after all versionstamps, which are hexadecimal. */
const afterAllVersions = "g";

/** The state of a catalog that never changes. */
const held = { resolvePending: undefined, holdsUntil: afterAllVersions } as const;

/** How long a catalog may be relied on in any database, in milliseconds. */
const minAgeMs = 100;

/** Reads a model's catalog entry and caches it. All calls of a program share it. */
export class ModelCatalog {
  /** Those of the database itself, even if a transaction is used for reading and writing. */
  readonly capabilities: Capabilities;
  readonly #kv: Kv;
  readonly #model: CompiledModel;
  readonly #programRows: ProgramRows;
  readonly #state: CatalogState;
  /** The time from which the snapshot is assumed to be current: see {@link assumed}. */
  readonly #assumedAt: number;

  private constructor(
    kv: Kv,
    model: CompiledModel,
    programRows: ProgramRows,
    state: CatalogState,
    assumedAt: number,
  ) {
    this.capabilities = capabilitiesOf(kv);
    this.#kv = kv;
    this.#model = model;
    this.#programRows = programRows;
    this.#state = state;
    this.#assumedAt = assumedAt;
  }

  /**
   * Reads a model's entry, or creates it if the database does not know the model. If the model has
   * no rows, its indexes and counters are readable at once. If it has rows, which were written by
   * hand as the secondary-index guide shows, an index with entries is assumed to be complete.
   * Indexes without entries and all counters are absent.
   *
   * On a read-only database, the entry is not stored, and the model is read as if it were.
   */
  static async open(
    kv: Kv,
    model: CompiledModel,
    { migrations = [], relations = relationTexts(model), stored }: OpenOptions = {},
  ): Promise<ModelCatalog> {
    const programRows = {
      manifest: rowManifest(model.schema, model.primaryKey),
      migrations,
      relations,
    };
    const key = catalogKey(model);
    for (let known = stored; ; known = undefined) {
      const readAt = known?.readAt ?? performance.now();
      const read = known?.entry ?? (await kv.get(key));
      const value = systemValue(read, catalogShape, model.name);
      if (value !== null) {
        const { versionstamp } = read as KvEntry<unknown>;
        const snapshot = await readSnapshot(kv, model, programRows, value, versionstamp);
        return ModelCatalog.#of(kv, model, programRows, snapshot, readAt);
      }
      const entry = await firstEntry(kv, model, programRows);
      if (isReadOnlyKv(kv)) {
        const snapshot = await readSnapshot(kv, model, programRows, entry, null);
        return ModelCatalog.#of(kv, model, programRows, snapshot, readAt);
      }
      const result = await kv
        .atomic()
        .check({ key, versionstamp: null })
        .set(key, entry)
        .set(
          rowManifestKey(model, programRows.manifest.hash),
          storedManifest(model.schema, programRows.manifest),
        )
        .commit();
      if (result.ok) {
        await recordEarlierSchemas(kv, model, programRows);
        const snapshot = await readSnapshot(kv, model, programRows, entry, result.versionstamp);
        return ModelCatalog.#of(kv, model, programRows, snapshot, readAt);
      }
    }
  }

  static #of(
    kv: Kv,
    model: CompiledModel,
    programRows: ProgramRows,
    snapshot: CatalogSnapshot,
    readAt: number,
  ): ModelCatalog {
    const state = { snapshot, readAt, resolvePending: undefined, holdsUntil: "", unfilled: [] };
    setPlaces(model, snapshot.entry);
    return new ModelCatalog(kv, model, programRows, state, Number.NEGATIVE_INFINITY);
  }

  /**
   * Returns the same catalog for a call that reads the entry at the same time as the data. It takes
   * the snapshot for current. The call must not return a result if the snapshot turns out not to
   * be.
   */
  assumed(): ModelCatalog {
    return new ModelCatalog(
      this.#kv,
      this.#model,
      this.#programRows,
      this.#state,
      performance.now(),
    );
  }

  /**
   * Returns the same catalog for the calls of a snapshot, whose state has the entry that was read
   * last. It never changes.
   *
   * @param kv the reads of the state.
   */
  heldIn(kv: Kv): ModelCatalog {
    const { snapshot } = this.#state;
    const state = { ...this.#state, snapshot, ...held };
    const always = Number.POSITIVE_INFINITY;
    return new ModelCatalog(kv, this.#model, this.#programRows, state, always);
  }

  /**
   * Returns the same catalog for the calls that read an earlier state, with the entry of that
   * state. It never changes.
   *
   * @param kv the reads of the state.
   */
  async heldAt(
    kv: Kv,
    stored: Pick<KvEntry<unknown>, "value" | "versionstamp">,
  ): Promise<ModelCatalog> {
    const snapshot = await this.snapshotOf(stored, kv);
    const state = { ...this.#state, snapshot, ...held };
    const always = Number.POSITIVE_INFINITY;
    return new ModelCatalog(kv, this.#model, this.#programRows, state, always);
  }

  /**
   * Returns the snapshot of an earlier entry, by which rows of its time are read.
   *
   * @param kv the reads of the state with this entry.
   */
  async snapshotOf(
    { value, versionstamp }: Pick<KvEntry<unknown>, "value" | "versionstamp">,
    kv: Kv = this.#kv,
  ): Promise<CatalogSnapshot> {
    const stored = { key: catalogKey(this.#model), value, versionstamp };
    const entry = systemValue(stored, catalogShape, this.#model.name)!;
    return await readSnapshot(kv, this.#model, this.#programRows, entry, versionstamp, true);
  }

  /** Records that the entry was unchanged at a time, because a commit has checked it. */
  confirm(snapshot: CatalogSnapshot, time: number, versionstamp: string): void {
    const state = this.#state;
    if (state.snapshot !== snapshot) return;
    if (time > state.readAt) state.readAt = time;
    this.confirmFor(snapshot, [{ versionstamp }]);
  }

  /** True if a snapshot is known to be that of the time at which entries were written. */
  isCurrentFor(snapshot: CatalogSnapshot, entries: readonly Versioned[]): boolean {
    const { snapshot: last, holdsUntil } = this.#state;
    if (snapshot !== last) return false;
    return entries.every(({ versionstamp }) => versionstamp === null || versionstamp <= holdsUntil);
  }

  /** Records that the entry was unchanged after entries were written. */
  confirmFor(snapshot: CatalogSnapshot, entries: readonly Versioned[]): void {
    const state = this.#state;
    if (state.snapshot !== snapshot) return;
    for (const { versionstamp } of entries) {
      if (versionstamp === null || isUncommitted(versionstamp)) continue;
      if (versionstamp > state.holdsUntil) state.holdsUntil = versionstamp;
    }
  }

  /** The database itself, even if a transaction is used for reading and writing. */
  get database(): Kv {
    return this.#kv;
  }

  get programRows(): ProgramRows {
    return this.#programRows;
  }

  /** The entry as last read. Any call may replace it, so a plan must read this property once. */
  get snapshot(): CatalogSnapshot {
    return this.#state.snapshot;
  }

  async reload(): Promise<boolean> {
    const now = performance.now();
    const stored = await this.#kv.get(catalogKey(this.#model));
    const { versionstamp } = stored;
    if (versionstamp === this.#state.snapshot.check.versionstamp) {
      this.#state.readAt = now;
      return false;
    }
    // The entry is missing only if the model was dropped or the database emptied.
    const value = systemValue(stored, catalogShape, this.#model.name);
    if (value === null || versionstamp === null)
      throw new ModelDroppedError(this.#model.name, false);
    const snapshot = await readSnapshot(
      this.#kv,
      this.#model,
      this.#programRows,
      withUnfilled(value, this.#state.unfilled),
      versionstamp,
    );
    // A call that began later may have finished first.
    if (versionstamp > (this.#state.snapshot.check.versionstamp ?? "")) {
      this.#state.snapshot = snapshot;
      this.#state.readAt = now;
      setPlaces(this.#model, snapshot.entry);
    }
    return true;
  }

  async refresh(): Promise<void> {
    if (!this.isFresh) await this.reload();
  }

  /** True if the entry was read recently enough to rely on it. */
  get isFresh(): boolean {
    const age = performance.now() - Math.max(this.#state.readAt, this.#assumedAt);
    return age < minAgeMs || age < this.maxAgeMs;
  }

  /** How long the catalog may be relied on after it was read, in milliseconds. */
  get maxAgeMs(): number {
    return this.capabilities.isLocal ? minAgeMs : 250;
  }

  /**
   * How long a program waits before it removes the entries of an index, in milliseconds. After that
   * time, no other program still has a read in progress that relies on the index.
   */
  get readerGraceMs(): number {
    return this.capabilities.isLocal ? 200 : 1000;
  }

  /** True if an index can be read, and the catalog was read recently enough to rely on this. */
  isReadable(index: CompiledIndex): boolean {
    return this.#state.snapshot.canRead(index) && this.isFresh;
  }

  /**
   * Returns whether a snapshot determines the schema of rows that were read after it was taken. If
   * it does not, the rows have to be read again, because a change of all rows may have begun or
   * ended in between.
   *
   * @param versionstamps the versionstamps of the rows, null for rows that do not exist.
   */
  async determinesSchema(
    snapshot: CatalogSnapshot,
    versionstamps: Iterable<string | null>,
  ): Promise<boolean> {
    if (this.#state.snapshot !== snapshot) return false;
    let latest = this.#state.holdsUntil;
    for (const versionstamp of versionstamps) {
      if (versionstamp === null || isUncommitted(versionstamp)) continue;
      if (versionstamp > latest) latest = versionstamp;
    }
    if (latest === this.#state.holdsUntil) return true;
    if (await this.reload()) return false;
    this.#state.holdsUntil = latest;
    return this.#state.snapshot === snapshot;
  }

  /** Records for all programs that rows may expire, or that a record of changes is kept. */
  async recordFact(fact: "expires" | "live"): Promise<void> {
    while (this.#state.snapshot.entry[fact] !== true) {
      this.#state.snapshot.assertWritable();
      const { check, entry } = this.#state.snapshot;
      await this.#kv
        .atomic()
        .check(check)
        .set(check.key, withFormat({ ...entry, [fact]: true }))
        .commit();
      await this.reload();
    }
  }

  /**
   * Records that copies may be outdated, so that `migrate` fills them again. For a read-only
   * database, only this program knows it then, until it ends.
   */
  async recordUnfilled(copies: readonly string[]): Promise<void> {
    for (;;) {
      const { check, entry, isWritable } = this.#state.snapshot;
      const unfilled = withUnfilled(entry, copies);
      if (!isWritable || unfilled === entry) return;
      if (isReadOnlyKv(this.#kv)) {
        const { versionstamp } = check;
        this.#state.unfilled = copies;
        this.#state.snapshot = await readSnapshot(
          this.#kv,
          this.#model,
          this.#programRows,
          unfilled,
          versionstamp,
        );
        return;
      }
      await this.#kv.atomic().check(check).set(check.key, unfilled).commit();
      await this.reload();
    }
  }

  /**
   * Stores the program's schema if it differs safely from that of the database. From then on, other
   * programs are compared with it. Programs with the previous schema can continue.
   */
  async makeKnown(): Promise<void> {
    while (this.#state.snapshot.needsRegistration) {
      this.#state.snapshot.assertWritable();
      const { check, entry } = this.#state.snapshot;
      const { manifest } = this.#programRows;
      const { hash = "", accepts = [] } = entry.schema ?? {};
      const before = await readRowManifest(this.#kv, this.#model, hash);
      const schema = { hash: manifest.hash, accepts: [...accepts, hash] };
      await this.#kv
        .atomic()
        .check(check)
        .set(check.key, { ...entry, schema })
        .set(rowManifestKey(this.#model, manifest.hash), {
          ...storedManifest(this.#model.schema, manifest),
          ...leftOf(before, manifest),
        })
        .commit();
      await this.reload();
    }
  }

  /** Stores the canonical code of functions, of which an earlier release has stored a hash. */
  async recordCode(): Promise<void> {
    while (this.#state.snapshot.lacksCode && this.#state.snapshot.isWritable) {
      const { check, entry } = this.#state.snapshot;
      await this.#kv.atomic().check(check).set(check.key, withCode(this.#model, entry)).commit();
      await this.reload();
    }
  }

  /** True if the rows can be read by the primary key of the model: see {@link assertSameKey}. */
  get isKeyKnown(): boolean {
    return this.#state.snapshot.hasSameKey && this.isFresh;
  }

  /**
   * Refuses a model whose primary key is not that of the database. A read by the wrong key would
   * not find rows that exist. The key may have changed since the catalog was last read.
   *
   * @throws {PrimaryKeyDiffersError}
   */
  async assertSameKey(): Promise<void> {
    if (this.isKeyKnown) return;
    await this.reload();
    this.#state.snapshot.assertSameKey();
  }

  /**
   * Sets what is done before a read is refused because an index is unique-pending. Its last
   * duplicates may have expired, which no write has noticed.
   */
  set resolvePending(resolve: (index: CompiledIndex) => Promise<void>) {
    this.#state.resolvePending = resolve;
  }

  async assertReadable(index: CompiledIndex): Promise<void> {
    if (this.isReadable(index)) return;
    await this.reload();
    this.#state.snapshot.assertSameKey();
    if (this.#state.snapshot.canRead(index)) return;
    if (this.#model.indexes.includes(index)) this.#state.snapshot.assertUnchanged(index);
    if (
      this.#state.snapshot.stateOf(index) === "unique-pending" &&
      this.#state.snapshot.isWritable
    ) {
      await this.#state.resolvePending?.(index);
      if (this.#state.snapshot.canRead(index)) return;
    }
    if (!this.#model.indexes.includes(index))
      throw new IndexNotReadyError(this.#model.name, index.name, "replaced");
    const stored = this.#state.snapshot.stateOf(index);
    // If the index is readable in the database, only its outdated entries can prevent the read.
    const isOutdated = stored === "readable" || this.#state.snapshot.isOutdated(index);
    const state = isOutdated ? "outdated" : stored;
    const backfill = await readBackfill(this.#kv, this.#model);
    const isFilled = backfill?.indexes.includes(index.name) === true;
    const progress = isFilled ? storedProgress("building", backfill) : undefined;
    throw new IndexNotReadyError(this.#model.name, index.name, state, progress);
  }
}

async function readSnapshot(
  kv: Kv,
  model: CompiledModel,
  programRows: ProgramRows,
  entry: CatalogEntry,
  versionstamp: string | null,
  isEarlier = false,
): Promise<CatalogSnapshot> {
  if (isBeingDropped(entry)) throw new ModelDroppedError(model.name, true);
  if (![1, 2, 3].includes(entry.format))
    throw new StaleSchemaError(model.name, [
      "a later version of Keywright has written the catalog",
    ]);
  const readModel = withStoredIndexes(model, entry);
  const schemas = await readRowSchemas(kv, readModel, programRows, entry, isEarlier);
  return new CatalogSnapshot(model, entry, versionstamp, schemas, readModel);
}

/** Returns the entry itself if it lists all of these copies as unfilled. */
function withUnfilled(entry: CatalogEntry, copies: readonly string[]): CatalogEntry {
  const { unfilled = [] } = entry;
  const added = copies.filter((text) => !unfilled.includes(text));
  return added.length === 0 ? entry : { ...entry, unfilled: [...unfilled, ...added] };
}

type Placed = { place: string };

/**
 * Sets the places of a model and its indexes to those of the catalog entry that was read last.
 * Nothing else of a compiled model ever changes. The place of the rows changes only while the
 * program can neither read nor write the model, because the rows have another primary key. The
 * place of an index changes only while the index is neither read nor written, because the database
 * has another definition of it.
 */
function setPlaces(model: CompiledModel, entry: CatalogEntry): void {
  (model as Placed).place = entry.place ?? model.prefix;
  for (const index of model.indexes) {
    const known = definitionOf(entry, index);
    (index as Placed).place = known === undefined ? index.prefix : placeOf(known.stored);
  }
}

async function firstEntry(
  kv: Kv,
  model: CompiledModel,
  { manifest: { hash }, relations }: ProgramRows,
): Promise<CatalogEntry> {
  const hasRows = await hasEntries(kv, model.prefix);
  const indexes: Record<string, StoredIndex> = {};
  for (const index of model.indexes) {
    if (!hasRows || (await hasEntries(kv, index.prefix))) {
      indexes[index.name] = storedIndex(index, "readable");
    }
  }
  const names = hasRows ? [] : model.counters.map(({ name }) => name);
  const unfilled = unfilledCopies(relations, {}).map(({ text }) => text);
  const counters = Object.fromEntries(names.map((name) => [name, "readable" as const]));
  return {
    format: 1,
    name: model.name,
    schema: { hash, accepts: [] },
    relations,
    ...(hasRows && unfilled.length > 0 && { unfilled }),
    indexes,
    ...(names.length > 0 && { counters }),
    ...(model.live && { live: true }),
  };
}

/** Returns the fields that rows may still have from before and that a schema does not have. */
function leftOf(
  before: RowManifest | undefined,
  { fields }: RowManifest,
): Pick<RowManifest, "left"> {
  const left = Object.entries(before?.left ?? {}).filter(([name]) => !Object.hasOwn(fields, name));
  return left.length === 0 ? {} : { left: Object.fromEntries(left) };
}

/** True for a versionstamp that a transaction has made up for an uncommitted change. */
function isUncommitted(versionstamp: string): boolean {
  return versionstamp.startsWith("ffffffff");
}
