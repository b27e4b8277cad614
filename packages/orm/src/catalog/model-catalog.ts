import type { AtomicCheck, Kv } from "@keywright/core";
import { IndexChangedError, IndexNotReadyError, StaleSchemaError } from "../errors/orm-errors.js";
import type { CompiledIndex, CompiledModel } from "../model/compile-model.js";
import {
  type CatalogEntry,
  catalogKey,
  type IndexState,
  isMaintained,
  isSameIndex,
  type StoredIndex,
  storedIndex,
} from "./catalog-entry.js";

/** A model's catalog entry as this program last read it. */
export class ModelCatalog {
  readonly #kv: Kv;
  readonly #model: CompiledModel;
  #entry: CatalogEntry;
  #versionstamp: string;
  #maintained: readonly CompiledIndex[] = [];

  private constructor(kv: Kv, model: CompiledModel, entry: CatalogEntry, versionstamp: string) {
    this.#kv = kv;
    this.#model = model;
    this.#entry = entry;
    this.#versionstamp = versionstamp;
    this.#adopt(entry, versionstamp);
  }

  /**
   * Reads a model's entry, or makes it where the database does not know the model. Indexes of a model without rows are
   * readable at once. Where there are rows, written by hand as the secondary-index guide shows, an index with entries
   * is taken as complete, and one without them as absent.
   *
   * @throws {IndexChangedError} where the database has an index of another definition under the same name.
   */
  static async open(kv: Kv, model: CompiledModel): Promise<ModelCatalog> {
    const key = catalogKey(model);
    for (;;) {
      const { value, versionstamp } = await kv.get<CatalogEntry>(key);
      if (value !== null) return new ModelCatalog(kv, model, value, versionstamp);
      const entry = await firstEntry(kv, model);
      const result = await kv.atomic().check({ key, versionstamp: null }).set(key, entry).commit();
      if (result.ok) return new ModelCatalog(kv, model, entry, result.versionstamp);
    }
  }

  get entry(): CatalogEntry {
    return this.#entry;
  }

  /** The condition that the catalog is still as it was read: part of every commit that writes a row. */
  get check(): AtomicCheck {
    return { key: catalogKey(this.#model), versionstamp: this.#versionstamp };
  }

  /** The indexes that a write has to keep up. */
  get maintained(): readonly CompiledIndex[] {
    return this.#maintained;
  }

  stateOf(index: CompiledIndex): IndexState {
    return this.#entry.indexes[index.name]?.state ?? "absent";
  }

  /** Reads the entry again; true where it has changed. */
  async reload(): Promise<boolean> {
    const { value, versionstamp } = await this.#kv.get<CatalogEntry>(catalogKey(this.#model));
    if (versionstamp === this.#versionstamp) return false;
    // An entry that is gone is one of an emptied database: nothing in it is indexed.
    if (value === null) throw new StaleSchemaError(this.#model.name, []);
    this.#adopt(value, versionstamp);
    return true;
  }

  /**
   * @throws {StaleSchemaError} where the database has an index that this program would not keep up.
   */
  assertWritable(): void {
    const known = new Set(this.#model.indexes.map((index) => index.name));
    const unknown = Object.entries(this.#entry.indexes)
      .filter(([name, index]) => !known.has(name) && isMaintained(index.state))
      .map(([name]) => name);
    if (unknown.length > 0) throw new StaleSchemaError(this.#model.name, unknown);
  }

  /**
   * @throws {IndexNotReadyError} where an index cannot be read yet, also by what the database says now.
   */
  async assertReadable(index: CompiledIndex): Promise<void> {
    if (this.stateOf(index) === "readable") return;
    await this.reload();
    const state = this.stateOf(index);
    if (state !== "readable") throw new IndexNotReadyError(this.#model.name, index.name, state);
  }

  #adopt(entry: CatalogEntry, versionstamp: string): void {
    for (const index of this.#model.indexes) assertUnchanged(this.#model, index, entry);
    this.#entry = entry;
    this.#versionstamp = versionstamp;
    this.#maintained = this.#model.indexes.filter((index) => isMaintained(this.stateOf(index)));
  }
}

function assertUnchanged(model: CompiledModel, index: CompiledIndex, entry: CatalogEntry): void {
  const stored = entry.indexes[index.name];
  if (stored === undefined) return;
  const declared = storedIndex(index, stored.state);
  if (isSameIndex(stored, declared)) return;
  throw new IndexChangedError(model.name, index.name, stored, declared);
}

async function firstEntry(kv: Kv, model: CompiledModel): Promise<CatalogEntry> {
  const hasRows = await hasEntries(kv, model.name);
  const indexes: Record<string, StoredIndex> = {};
  for (const index of model.indexes) {
    if (!hasRows || (await hasEntries(kv, index.prefix))) {
      indexes[index.name] = storedIndex(index, "readable");
    }
  }
  return { format: 1, indexes };
}

async function hasEntries(kv: Kv, prefix: string): Promise<boolean> {
  const first = await kv.list({ prefix: [prefix] }, { limit: 1 }).next();
  return first.done !== true;
}
