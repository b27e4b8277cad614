import type { KvKey } from "@keywright/core";
import type { CatalogEntry } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import type { IndexState } from "@keywright/orm/migrate";
import { emptySize, type Size } from "./size.js";

/** The first part of the keys that Keywright keeps for itself. */
export const keywrightPrefix = "__keywright";

/** The sizes of a model's rows, its indexes and the other entries that Keywright keeps for it. */
export interface ModelSize {
  readonly model: string;
  readonly declared: boolean;
  readonly rows: Size;
  readonly indexes: Readonly<Record<string, IndexSize>>;
  /** The stored row counts. */
  readonly counters: Size;
  /** The catalog entry and the schemas of the rows. */
  readonly catalog: Size;
  /** Other entries, such as guards of references, change marks and states of migrations. */
  readonly other: Size;
}

export interface IndexSize extends Size {
  /** False for an index that `keywright migrate run` will remove. */
  readonly declared: boolean;
  /** The state in the catalog. `absent` if the catalog does not contain the index. */
  readonly state: IndexState;
}

/** A model of the project, of the database's catalog, or of both. */
export interface KnownModel {
  readonly prefix: string;
  readonly compiled?: CompiledModel | undefined;
  readonly entry?: CatalogEntry | undefined;
}

export class ModelPlaces {
  readonly sizes: readonly ModelSize[];
  readonly own: Size = emptySize();
  readonly #places = new Map<string, Place>();

  constructor(models: readonly KnownModel[]) {
    this.sizes = models.map((model) => this.#addModel(model));
  }

  /** Returns the size to add an entry to. Undefined if it belongs to no model. */
  sizeFor(key: KvKey): Size | undefined {
    const [first, kind, prefix] = key;
    if (typeof first !== "string") return undefined;
    if (first !== keywrightPrefix) return this.#sizeOfEntry(first, key.length);
    const size = typeof prefix === "string" ? this.#places.get(prefix)?.size : undefined;
    if (size === undefined) return this.own;
    if (kind === "count") return size.counters;
    return kind === "catalog" || kind === "schema" ? size.catalog : size.other;
  }

  #sizeOfEntry(prefix: string, keyLength: number): Size | undefined {
    const place = this.#places.get(prefix);
    if (place === undefined) return undefined;
    const { entries, keyLengthOfRows } = place;
    return keyLengthOfRows === undefined || keyLengthOfRows === keyLength ? entries : undefined;
  }

  #addModel({ prefix, compiled, entry }: KnownModel): ModelSize {
    const indexes: Record<string, IndexSize> = {};
    const size: ModelSize = {
      model: compiled?.name ?? entry?.name ?? prefix,
      declared: compiled !== undefined,
      rows: emptySize(),
      indexes,
      counters: emptySize(),
      catalog: emptySize(),
      other: emptySize(),
    };
    const keyLengthOfRows = compiled && compiled.primaryKey.length + 1;
    const rows = { size, entries: size.rows, keyLengthOfRows };
    this.#places.set(prefix, rows).set(entry?.place ?? prefix, rows);
    for (const { name, places, declared } of indexesOf(compiled, entry)) {
      const state = entry?.indexes[name]?.state ?? "absent";
      const index = { ...emptySize(), declared, state };
      indexes[name] = index;
      for (const place of places) {
        // Two indexes have the same place after an index was renamed. The entries then belong to
        // the index that the model has, which comes first.
        if (this.#places.has(place)) continue;
        this.#places.set(place, { size, entries: index, keyLengthOfRows: undefined });
      }
    }
    return size;
  }
}

interface Place {
  readonly size: ModelSize;
  readonly entries: Size;
  /** The number of parts in the key of a row. Undefined if all keys below the first part count. */
  readonly keyLengthOfRows: number | undefined;
}

interface IndexPlaces {
  readonly name: string;
  /** The places of its entries: several while it is rebuilt. */
  readonly places: readonly string[];
  readonly declared: boolean;
}

/** Yields the indexes of the model, then those that only the database has. */
function* indexesOf(
  compiled: CompiledModel | undefined,
  entry: CatalogEntry | undefined,
): Generator<IndexPlaces> {
  const stored = entry?.indexes ?? {};
  const names = new Set<string>();
  for (const { name, prefix } of compiled?.indexes ?? []) {
    names.add(name);
    const index = stored[name];
    yield { name, places: index === undefined ? [prefix] : placesOf(index), declared: true };
  }
  for (const [name, index] of Object.entries(stored)) {
    if (!names.has(name) && index.state !== "absent")
      yield { name, places: placesOf(index), declared: false };
  }
}

function placesOf(index: CatalogEntry["indexes"][string]): string[] {
  const definitions = [index, index.next, index.leaving].flatMap((one) => one ?? []);
  const places = definitions.map(({ prefix, place = prefix }) => place);
  return [...places, ...(index.leftPlaces ?? [])];
}
