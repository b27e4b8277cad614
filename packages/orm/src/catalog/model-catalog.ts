import type { Kv } from "@keywright/core";
import { IndexNotReadyError, StaleSchemaError } from "../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import {
  type CatalogEntry,
  catalogKey,
  declaredCounters,
  type StoredIndex,
  storedIndex,
} from "./catalog-entry.js";
import { CatalogSnapshot } from "./catalog-snapshot.js";

/** Reads a model's catalog entry, and keeps what it last read. All calls of a program share it. */
export class ModelCatalog {
  /** Whether the database tells of its entries when they expire. Those that state their limits do; Deno KV does not. */
  readonly tellsExpiry: boolean;
  readonly #kv: Kv;
  readonly #model: CompiledModel;
  #snapshot: CatalogSnapshot;

  private constructor(kv: Kv, model: CompiledModel, snapshot: CatalogSnapshot) {
    this.tellsExpiry = "limits" in kv && kv.limits !== undefined;
    this.#kv = kv;
    this.#model = model;
    this.#snapshot = snapshot;
  }

  /**
   * Reads a model's entry, or makes it where the database does not know the model. Indexes of a model without rows are
   * readable at once. Where there are rows, written by hand as the secondary-index guide shows, an index with entries
   * is taken as complete, and one without them as absent; so is a counter.
   *
   * @throws {IndexChangedError} where the database has an index of another definition under the same name.
   */
  static async open(kv: Kv, model: CompiledModel): Promise<ModelCatalog> {
    const key = catalogKey(model);
    for (;;) {
      const { value, versionstamp } = await kv.get<CatalogEntry>(key);
      if (value !== null) {
        return new ModelCatalog(kv, model, new CatalogSnapshot(model, value, versionstamp));
      }
      const entry = await firstEntry(kv, model);
      const result = await kv.atomic().check({ key, versionstamp: null }).set(key, entry).commit();
      if (result.ok) {
        return new ModelCatalog(kv, model, new CatalogSnapshot(model, entry, result.versionstamp));
      }
    }
  }

  /** The entry as it was last read. Another call may read it again at any time: take it once, and plan by that. */
  get snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  /**
   * Reads the entry again; true where it has changed.
   *
   * @throws {IndexChangedError} where the database now has an index of another definition under the same name.
   */
  async reload(): Promise<boolean> {
    const { value, versionstamp } = await this.#kv.get<CatalogEntry>(catalogKey(this.#model));
    if (versionstamp === this.#snapshot.check.versionstamp) return false;
    // An entry that is gone is one of an emptied database: nothing in it is indexed.
    if (value === null) throw new StaleSchemaError(this.#model.name, []);
    this.#snapshot = new CatalogSnapshot(this.#model, value, versionstamp);
    return true;
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
   * @throws {IndexNotReadyError} where an index cannot be read yet, also by what the database says now.
   */
  async assertReadable(index: CompiledIndex): Promise<void> {
    if (this.#snapshot.stateOf(index) === "readable") return;
    await this.reload();
    const state = this.#snapshot.stateOf(index);
    if (state !== "readable") throw new IndexNotReadyError(this.#model.name, index.name, state);
  }
}

async function firstEntry(kv: Kv, model: CompiledModel): Promise<CatalogEntry> {
  const hasRows = await hasEntries(kv, model.name);
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
    indexes,
    ...(names.length > 0 && { counters }),
    ...(model.live && { live: true }),
  };
}

async function hasEntries(kv: Kv, prefix: string): Promise<boolean> {
  const first = await kv.list({ prefix: [prefix] }, { limit: 1 }).next();
  return first.done !== true;
}
