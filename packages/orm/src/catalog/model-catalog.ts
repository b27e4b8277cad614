import type { Kv } from "@keywright/core";
import {
  IndexNotReadyError,
  type IndexProgress,
  StaleSchemaError,
} from "../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import type { RowMigration } from "../schema/define-migration.js";
import type { RowManifest } from "../schema/manifest.js";
import { relationTexts } from "../schema/model-manifest.js";
import { rowManifest } from "../schema/row-manifest.js";
import { type BackfillState, backfillKey } from "./backfill-state.js";
import {
  type CatalogEntry,
  catalogKey,
  declaredCounters,
  rowManifestKey,
  type StoredIndex,
  storedIndex,
} from "./catalog-entry.js";
import { CatalogSnapshot } from "./catalog-snapshot.js";
import { type OwnRows, readRowSchemas } from "./row-schemas.js";

/** Reads a model's catalog entry, and keeps what it last read. All calls of a program share it. */
export class ModelCatalog {
  /** Whether the database tells of its entries when they expire. Those that state their limits do; Deno KV does not. */
  readonly tellsExpiry: boolean;
  readonly #kv: Kv;
  readonly #model: CompiledModel;
  readonly #own: OwnRows;
  #snapshot: CatalogSnapshot;
  /** When the entry was last read, by the monotonic clock. */
  #readAt: number;
  /** The snapshot is known to hold for rows up to this versionstamp. */
  #holdsUntil = "";

  private constructor(
    kv: Kv,
    model: CompiledModel,
    own: OwnRows,
    snapshot: CatalogSnapshot,
    readAt: number,
  ) {
    this.#readAt = readAt;
    this.tellsExpiry = "limits" in kv && kv.limits !== undefined;
    this.#kv = kv;
    this.#model = model;
    this.#own = own;
    this.#snapshot = snapshot;
  }

  /**
   * Reads a model's entry, or makes it where the database does not know the model. Indexes of a model without rows are
   * readable at once. Where there are rows, written by hand as the secondary-index guide shows, an index with entries
   * is taken as complete, and one without them as absent; so is a counter.
   *
   * @param migrations of rows of earlier schemas to the model's.
   * @param relations its `belongsTo` relations, as `relationTexts` gives them.
   */
  static async open(
    kv: Kv,
    model: CompiledModel,
    migrations: readonly RowMigration[] = [],
    relations: readonly string[] = relationTexts(model),
  ): Promise<ModelCatalog> {
    const own = { manifest: rowManifest(model.schema, model.primaryKey), migrations, relations };
    const key = catalogKey(model);
    for (;;) {
      const readAt = performance.now();
      const { value, versionstamp } = await kv.get<CatalogEntry>(key);
      if (value !== null) {
        const snapshot = await readSnapshot(kv, model, own, value, versionstamp);
        return new ModelCatalog(kv, model, own, snapshot, readAt);
      }
      const entry = await firstEntry(kv, model, own);
      const result = await kv
        .atomic()
        .check({ key, versionstamp: null })
        .set(key, entry)
        .set(rowManifestKey(model, own.manifest.hash), own.manifest)
        .commit();
      if (result.ok) {
        const snapshot = await readSnapshot(kv, model, own, entry, result.versionstamp);
        return new ModelCatalog(kv, model, own, snapshot, readAt);
      }
    }
  }

  /** The database itself, also where what is read and written goes through a transaction. */
  get database(): Kv {
    return this.#kv;
  }

  /** What the program's rows are, and how those of earlier schemas become such. */
  get ownRows(): OwnRows {
    return this.#own;
  }

  /** The entry as it was last read. Another call may read it again at any time: take it once, and plan by that. */
  get snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  /** Reads the entry again; true where it has changed. */
  async reload(): Promise<boolean> {
    const now = performance.now();
    const { value, versionstamp } = await this.#kv.get<CatalogEntry>(catalogKey(this.#model));
    if (versionstamp === this.#snapshot.check.versionstamp) {
      this.#readAt = now;
      return false;
    }
    // An entry that is gone is one of an emptied database: nothing in it is indexed.
    if (value === null) throw new StaleSchemaError(this.#model.name, ["the database was emptied"]);
    const snapshot = await readSnapshot(this.#kv, this.#model, this.#own, value, versionstamp);
    // A call that began later may have ended before this one.
    if (versionstamp > (this.#snapshot.check.versionstamp ?? "")) {
      this.#snapshot = snapshot;
      this.#readAt = now;
    }
    return true;
  }

  /** Reads the entry again where it was last read too long ago to say what can be read. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt >= this.longestAge) await this.reload();
  }

  /** For how long an index may be read by what the catalog said, in milliseconds. Other processes may change it. */
  get longestAge(): number {
    return this.tellsExpiry ? 100 : 250;
  }

  /**
   * Who removes an index's entries waits for so many milliseconds, so that nobody misses any who believes that it is readable,
   * and whose read is still on its way.
   */
  get readersLeaveWithin(): number {
    return this.tellsExpiry ? 200 : 1000;
  }

  /** Whether an index can be read, by what the catalog said not long ago. */
  isReadable(index: CompiledIndex): boolean {
    return this.#snapshot.canRead(index) && performance.now() - this.#readAt < this.longestAge;
  }

  /**
   * Whether a snapshot tells of which schema some rows are that were read after it was taken. They are to be read again
   * where it does not: a change of all rows may have begun or ended between.
   *
   * @param versionstamps of the rows, null for those that are not there.
   */
  async holds(snapshot: CatalogSnapshot, versionstamps: Iterable<string | null>): Promise<boolean> {
    if (this.#snapshot !== snapshot) return false;
    let latest = this.#holdsUntil;
    for (const versionstamp of versionstamps) {
      if (versionstamp === null || isOwnVersionstamp(versionstamp)) continue;
      if (versionstamp > latest) latest = versionstamp;
    }
    if (latest === this.#holdsUntil) return true;
    if (await this.reload()) return false;
    this.#holdsUntil = latest;
    return this.#snapshot === snapshot;
  }

  /**
   * Notes, once and for all programs, that rows of the model may expire, or that a record of its changes is kept.
   *
   * @throws {StaleSchemaError} where the database has indexes or counters that this program would not keep up.
   */
  async note(fact: "expires" | "live"): Promise<void> {
    while (this.#snapshot.entry[fact] !== true) {
      this.#snapshot.assertWritable();
      const { check, entry } = this.#snapshot;
      await this.#kv
        .atomic()
        .check(check)
        .set(check.key, { ...entry, [fact]: true })
        .commit();
      await this.reload();
    }
  }

  /**
   * Makes the program's schema known to the database where it differs safely: others are compared with it from then on, and
   * programs with the schema before go on.
   *
   * @throws {StaleSchemaError} and what else {@link CatalogSnapshot.assertWritable} throws.
   */
  async makeKnown(): Promise<void> {
    while (this.#snapshot.isUnknown) {
      this.#snapshot.assertWritable();
      const { check, entry } = this.#snapshot;
      const { manifest } = this.#own;
      const { hash = "", accepts = [] } = entry.schema ?? {};
      const before = await this.#kv.get<RowManifest>(rowManifestKey(this.#model, hash));
      const schema = { hash: manifest.hash, accepts: [...accepts, hash] };
      await this.#kv
        .atomic()
        .check(check)
        .set(check.key, { ...entry, schema })
        .set(rowManifestKey(this.#model, manifest.hash), {
          ...manifest,
          ...(before.value?.left !== undefined && { left: before.value.left }),
        })
        .commit();
      await this.reload();
    }
  }

  /**
   * @throws {IndexNotReadyError} where an index cannot be read yet, also by what the database says now.
   * @throws {IndexChangedError} where the database has an index of another definition under the same name.
   */
  async assertReadable(index: CompiledIndex): Promise<void> {
    if (this.isReadable(index)) return;
    await this.reload();
    this.#snapshot.assertUnchanged(index);
    if (this.#snapshot.canRead(index)) return;
    const found = this.#snapshot.stateOf(index);
    // What is readable in the database is refused as outdated only.
    const isOutdated = found === "readable" || this.#snapshot.isOutdated(index);
    const state = isOutdated ? "outdated" : found;
    const { value } = await this.#kv.get<BackfillState>(backfillKey(this.#model));
    const progress = value?.indexes.includes(index.name) ? progressOf(value) : undefined;
    throw new IndexNotReadyError(this.#model.name, index.name, state, progress);
  }
}

function progressOf({ rowsDone, rowsTotal }: BackfillState): IndexProgress {
  return { rowsDone, ...(rowsTotal !== undefined && { rowsTotal }) };
}

async function readSnapshot(
  kv: Kv,
  model: CompiledModel,
  own: OwnRows,
  entry: CatalogEntry,
  versionstamp: string,
): Promise<CatalogSnapshot> {
  if (entry.format !== 1)
    throw new StaleSchemaError(model.name, ["a later Keywright has written it"]);
  const schemas = await readRowSchemas(kv, model, own, entry);
  return new CatalogSnapshot(model, entry, versionstamp, schemas);
}

async function firstEntry(
  kv: Kv,
  model: CompiledModel,
  { manifest: { hash }, relations }: OwnRows,
): Promise<CatalogEntry> {
  const hasRows = await hasEntries(kv, model.prefix);
  const indexes: Record<string, StoredIndex> = {};
  for (const index of model.indexes) {
    if (!hasRows || (await hasEntries(kv, index.prefix))) {
      indexes[index.name] = storedIndex(index, "readable");
    }
  }
  const names = hasRows ? [] : declaredCounters(model);
  const counters = Object.fromEntries(names.map((name) => [name, "readable" as const]));
  return {
    format: 1,
    name: model.name,
    schema: { hash, accepts: [] },
    relations,
    indexes,
    ...(names.length > 0 && { counters }),
    ...(model.live && { live: true }),
  };
}

/** Whether a versionstamp is one that a transaction made up for what it has not committed yet: all bits set at its front. */
function isOwnVersionstamp(versionstamp: string): boolean {
  return versionstamp.startsWith("ffffffff");
}

async function hasEntries(kv: Kv, prefix: string): Promise<boolean> {
  const first = await kv.list({ prefix: [prefix] }, { limit: 1 }).next();
  return first.done !== true;
}
