import type { KvKey } from "@keywright/core";
import type { CatalogEntry, CompiledModel, IndexState } from "@keywright/orm";
import { emptySize, type Size } from "./size.js";

/** The first part of Keywright's own keys. */
export const ownPrefix = "__keywright";

/** How much a model holds. */
export interface ModelSize {
  readonly model: string;
  /** It is one of the project's. */
  readonly declared: boolean;
  readonly rows: Size;
  readonly indexes: Readonly<Record<string, IndexSize>>;
  /** The numbers of rows that are kept. */
  readonly counters: Size;
  /** What the database knows of the model's schema. */
  readonly catalog: Size;
  /** What else Keywright keeps for it: guards of references, marks of changes, states of migrations. */
  readonly other: Size;
}

export interface IndexSize extends Size {
  /** The model has it. One that it has not is there until `keywright migrate run` removes it. */
  readonly declared: boolean;
  /** By the catalog; `absent` where that does not know it. */
  readonly state: IndexState;
}

/** A model of the project, of the database's catalog, or of both. */
export interface KnownModel {
  readonly prefix: string;
  readonly compiled?: CompiledModel | undefined;
  readonly entry?: CatalogEntry | undefined;
}

/** Knows what belongs to which model, by its key. */
export class ModelPlaces {
  readonly sizes: readonly ModelSize[];
  /** Keywright's own entries that are of no model. */
  readonly own: Size = emptySize();
  readonly #places = new Map<string, Place>();

  constructor(models: readonly KnownModel[]) {
    this.sizes = models.map((model) => this.#place(model));
  }

  /** The size to which an entry is added; undefined for one of no model. */
  sizeFor(key: KvKey): Size | undefined {
    const [first, kind, prefix] = key;
    if (typeof first !== "string") return undefined;
    if (first !== ownPrefix) return this.#sizeOfEntry(first, key.length);
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

  #place({ prefix, compiled, entry }: KnownModel): ModelSize {
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
    this.#places.set(prefix, { size, entries: size.rows, keyLengthOfRows });
    for (const { name, prefix, declared } of indexesOf(compiled, entry)) {
      const state = entry?.indexes[name]?.state ?? "absent";
      const index = { ...emptySize(), declared, state };
      indexes[name] = index;
      // Two indexes have one place where one of them has got another name: it is of the one that the model has.
      if (this.#places.has(prefix)) continue;
      this.#places.set(prefix, { size, entries: index, keyLengthOfRows: undefined });
    }
    return size;
  }
}

/** What is under one first part. */
interface Place {
  readonly size: ModelSize;
  /** Where the entries under it count. */
  readonly entries: Size;
  /** Parts of a row's key; undefined where all that is under it counts. */
  readonly keyLengthOfRows: number | undefined;
}

/** Those of the model, then those that only the database has. */
function* indexesOf(
  compiled: CompiledModel | undefined,
  entry: CatalogEntry | undefined,
): Generator<{ readonly name: string; readonly prefix: string; readonly declared: boolean }> {
  const names = new Set<string>();
  for (const { name, prefix } of compiled?.indexes ?? []) {
    names.add(name);
    yield { name, prefix, declared: true };
  }
  for (const [name, { prefix, state }] of Object.entries(entry?.indexes ?? {})) {
    if (!names.has(name) && state !== "absent") yield { name, prefix, declared: false };
  }
}
