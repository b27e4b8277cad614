import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { hiddenIndex } from "../../model/indexes/plain-index.js";
import {
  type CatalogEntry,
  isMaintained,
  type StoredIndex,
  type StoredLayout,
  storedIndexOf,
} from "./catalog-entry.js";

/**
 * The rows of a model by another primary key, with all of their index entries. Every writer
 * maintains it in addition to the layout that is read, so that the primary key can change while
 * programs read and write.
 */
export interface OtherLayout {
  /**
   * The rows by the other key, as an index of the rows that are read: a unique index of copies. It
   * keeps two rows from having the same key.
   */
  readonly keyIndex: CompiledIndex;
  /** The model by the other key. Its rows are the entries of `keyIndex`. */
  readonly model: CompiledModel;
  /** The indexes of `model` that writers maintain. */
  readonly maintained: readonly CompiledIndex[];
}

/** Returns the name of an index of the other layout in the catalog, for example `byAge (email)`. */
export function otherIndexName(
  name: string,
  { primaryKey }: Pick<StoredLayout, "primaryKey">,
): string {
  return `${name} (${primaryKey.join(", ")})`;
}

/** Returns the layout that a catalog entry lists in addition to the one that is read, if any. */
export function otherLayoutOf(model: CompiledModel, entry: CatalogEntry): OtherLayout | undefined {
  const layout = entry.otherLayout;
  if (layout === undefined) return undefined;
  const indexes = model.indexes.flatMap((index) => {
    const stored = storedIndexOf(entry, otherIndexName(index.name, layout));
    return stored === undefined ? [] : otherIndex(index, layout, stored);
  });
  return {
    keyIndex: keyIndexOf(layout),
    model: { ...withPrimaryKey(model, layout.primaryKey), place: layout.place, indexes },
    maintained: indexes.filter((index) => {
      return isMaintained(storedIndexOf(entry, index.name)?.state ?? "absent");
    }),
  };
}

/**
 * True if the layout is that of the primary key before the last change. It is maintained only until
 * no reader uses it any longer.
 */
export function isLeaving({ indexes, otherLayout }: CatalogEntry): boolean {
  const name = otherLayout && otherIndexName("primaryKey", otherLayout);
  const state = name === undefined ? undefined : indexes[name]?.state;
  return state === "disabled" || state === "dropping";
}

/** Returns the unique index of copies whose entries are the rows of a layout. */
export function keyIndexOf(layout: StoredLayout): CompiledIndex {
  const name = otherIndexName("primaryKey", layout);
  return hiddenIndex(name, layout.place, layout.primaryKey, { unique: true, store: "copy" });
}

const uncounted = { counted: false, sums: [], ranked: false } as const;

function otherIndex(
  index: CompiledIndex,
  layout: StoredLayout,
  { prefix, traits }: StoredIndex,
): CompiledIndex {
  const include = Array.isArray(traits?.value) ? (traits.value as readonly string[]) : [];
  const name = otherIndexName(index.name, layout);
  return { ...index, name, prefix, place: prefix, include, ...uncounted };
}

/** Returns a copy of a model with another primary key. */
export function withPrimaryKey(model: CompiledModel, primaryKey: readonly string[]): CompiledModel {
  const indexes = model.indexes.map((index) => {
    const include =
      index.store === "include" ? [...new Set([...primaryKey, ...index.declaredInclude])] : [];
    return { ...index, include };
  });
  return { ...model, primaryKey, generatesId: false, indexes };
}
