import { Buffer } from "node:buffer";
import { encodeKey, encodeValue, type KvKey, type KvLike } from "@keywright/core";
import { type CatalogEntry, type MigrationStatus, migrationStatus } from "@keywright/orm";
import { modelManifest } from "@keywright/orm/codegen";
import { openModels, type Project } from "../../project/open-project.js";
import { listEntries } from "../entries/list-entries.js";
import { type KnownModel, keywrightPrefix, ModelPlaces, type ModelSize } from "./model-places.js";
import { addTo, emptySize, type Size } from "./size.js";

export interface DatabaseStats extends Omit<DatabaseSize, "models"> {
  readonly models: readonly ModelStats[];
  /** Null if the project has a new model, because reading the status would register it. */
  readonly migration: MigrationStatus | null;
}

export interface ModelStats extends ModelSize {
  /** The hash of the row manifest in the project. Null if only the database has the model. */
  readonly projectSchema: string | null;
  /** The hash of the row manifest in the database. Null if no program has migrated the model. */
  readonly databaseSchema: string | null;
  /** The version of the catalog's format. Null if the database does not know the model. */
  readonly catalogFormat: number | null;
}

/** Reads all entries of a database and writes nothing. */
export async function databaseStats(
  project: Project,
  kv: KvLike,
  options: { readonly onProgress?: (keys: number) => void } = {},
): Promise<DatabaseStats> {
  const known = await knownModels(kv, project);
  const size = await measureDatabase(kv, known, options);
  const models = size.models.map((model, index) => ({ ...model, ...schemasOf(known[index]!) }));
  return { ...size, models, migration: await statusOf(project, kv, known) };
}

function schemasOf({ compiled, entry }: KnownModel): Omit<ModelStats, keyof ModelSize> {
  return {
    projectSchema: compiled === undefined ? null : modelManifest(compiled).row.hash,
    databaseSchema: entry?.schema?.hash ?? null,
    catalogFormat: entry?.format ?? null,
  };
}

async function statusOf(
  project: Project,
  kv: KvLike,
  known: readonly KnownModel[],
): Promise<MigrationStatus | null> {
  // Opening a model that the database does not know would add it to the catalog, which is a write.
  if (known.some(({ compiled, entry }) => compiled !== undefined && entry === undefined))
    return null;
  return await migrationStatus(await openModels(project, kv));
}

interface DatabaseSize {
  readonly total: Size;
  /** The models of the project, then those that only the database has. */
  readonly models: readonly ModelSize[];
  readonly own: Size;
  /** The largest groups of other entries with the same first part, in the order of keys. */
  readonly others: readonly OtherSize[];
  readonly rest: Size;
}

/** Reads all entries once. Memory depends on the number of models and indexes only. */
async function measureDatabase(
  kv: KvLike,
  models: readonly KnownModel[],
  options: { readonly onProgress?: (keys: number) => void } = {},
): Promise<DatabaseSize> {
  const places = new ModelPlaces(models);
  const others = new OtherSizes();
  const total = emptySize();
  for await (const { key, value } of listEntries(kv, {})) {
    const bytes = encodeKey(key).length + encodeValue(value).length;
    addTo(total, bytes);
    addTo(places.sizeFor(key) ?? others.sizeFor(key), bytes);
    options.onProgress?.(total.keys);
  }
  const { largest, rest } = others.sizes;
  return { total, models: places.sizes, own: places.own, others: largest, rest };
}

/** Returns the models of a project, then the models that only the database's catalog has. */
async function knownModels(kv: KvLike, { models }: Project): Promise<KnownModel[]> {
  const entries = new Map<string, CatalogEntry>();
  for await (const { key, value } of listEntries(kv, { prefix: [keywrightPrefix, "catalog"] })) {
    entries.set(String(key[2]), value as CatalogEntry);
  }
  const declared = models.map(({ model: compiled }) => {
    const entry = entries.get(compiled.prefix);
    entries.delete(compiled.prefix);
    return { prefix: compiled.prefix, compiled, entry };
  });
  const others = [...entries].map(([prefix, entry]) => ({ prefix, entry }));
  return [...declared, ...others];
}

/** The size of the entries with one first part that belong to no model. */
interface OtherSize extends Size {
  readonly prefix: KvKey;
}

const maxKept = 20;

/** Entries must come in the order of keys, so that groups can be dropped on the way. */
class OtherSizes {
  readonly #rest: Size = emptySize();
  #kept: OtherSize[] = [];

  /** Returns the size to add an entry to. Keys must be passed in order. */
  sizeFor(key: KvKey): Size {
    const prefix = key.slice(0, 1);
    const last = this.#kept.at(-1);
    if (last !== undefined && isSameKey(last.prefix, prefix)) return last;
    this.#dropSmallest();
    const size = { prefix, ...emptySize() };
    this.#kept.push(size);
    return size;
  }

  get sizes(): { readonly largest: readonly OtherSize[]; readonly rest: Size } {
    return { largest: this.#kept, rest: this.#rest };
  }

  #dropSmallest(): void {
    if (this.#kept.length < maxKept) return;
    const smallest = this.#kept.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    this.#kept = this.#kept.filter((size) => size !== smallest);
    addTo(this.#rest, smallest.bytes, smallest.keys);
  }
}

function isSameKey(a: KvKey, b: KvKey): boolean {
  return Buffer.from(encodeKey(a)).equals(encodeKey(b));
}
