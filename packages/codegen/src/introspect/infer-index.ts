import { isDeepStrictEqual } from "node:util";
import type { KvEntry, KvKey, KvKeyPart, KvLike } from "@keywright/core";
import { camelCase, pascalCase } from "../types/identifiers.js";
import { type EntryPlace, isPart } from "./entry-place.js";
import type { InferredIndex } from "./inferred-model.js";
import { isPlainObject } from "./object-shape.js";

type Row = Readonly<Record<string, unknown>>;

interface Owned {
  readonly values: readonly KvKeyPart[];
  readonly row: Row;
  readonly isCopy: boolean;
}

/** Deno KV reads at most 10 keys at once. */
const keysAtOnce = 10;

/**
 * Infers an index of the secondary-index guide or of pentagon from samples of its entries, whose
 * rows are read.
 *
 * @param suffix the end of the prefix, such as `favorite_color`.
 * @returns the index and the rows of the samples. Undefined if the entries do not lead to rows that
 * have their values.
 */
export async function inferIndex(
  kv: KvLike,
  place: EntryPlace,
  rows: EntryPlace,
  primaryKey: readonly string[],
  suffix: string,
): Promise<{ readonly index: InferredIndex; readonly rows: readonly Row[] } | undefined> {
  const pointers = place.samples.map((entry) => ownerOf(entry, primaryKey));
  const endsWithId = place.samples.every(({ key }, i) => {
    const owner = pointers[i];
    return (
      owner !== undefined &&
      key.length > 1 + owner.length &&
      isDeepStrictEqual(key.slice(-owner.length), owner)
    );
  });
  const idLength = endsWithId ? primaryKey.length : 0;
  const owned: Owned[] = [];
  for (const [i, row] of (await rowsAt(kv, rows.prefix, pointers)).entries()) {
    const entry = place.samples[i];
    if (entry === undefined || !isPlainObject(row)) continue;
    const values = entry.key.slice(1, entry.key.length - idLength);
    owned.push({ values, row, isCopy: isDeepStrictEqual(entry.value, row) });
  }
  const [first] = owned;
  if (first === undefined) return undefined;
  const wanted = camelCase(suffix.replace(/^unique_/, ""));
  const isSingle = first.values.length === 1;
  const same = fieldsOf(owned, wanted, isPart);
  const lowerCase = isSingle ? fieldsOf(owned, wanted, isLowerCasePart) : undefined;
  const each = isSingle ? fieldsOf(owned, wanted, isElement) : undefined;
  const found = same ?? lowerCase ?? each;
  if (found === undefined) return undefined;
  const index = {
    name: `by${pascalCase(suffix.replace(/^unique_/, ""))}`,
    fields: found,
    isUnique: !endsWithId,
    hasCopies: owned.every(({ isCopy }) => isCopy),
    isEach: found === each,
    isLowerCase: found === lowerCase,
    prefix: place.prefix,
    entries: place.count,
  };
  return { index, rows: owned.map(({ row }) => row) };
}

/** Returns the id in the value of an entry: one part, a list of parts, or a copy of the row. */
function ownerOf({ value }: KvEntry<unknown>, primaryKey: readonly string[]): KvKey | undefined {
  const parts = isPlainObject(value)
    ? primaryKey.map((name) => value[name])
    : Array.isArray(value)
      ? (value as unknown[])
      : [value];
  const isId = parts.length === primaryKey.length && parts.every(isKeyPart);
  return isId ? (parts as KvKey) : undefined;
}

function isKeyPart(value: unknown): value is KvKeyPart {
  return (
    ["string", "number", "bigint", "boolean"].includes(typeof value) || value instanceof Uint8Array
  );
}

async function rowsAt(
  kv: KvLike,
  prefix: KvKey,
  ids: readonly (KvKey | undefined)[],
): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (let from = 0; from < ids.length; from += keysAtOnce) {
    const chunk = ids.slice(from, from + keysAtOnce);
    const keys = chunk.flatMap((id) => (id === undefined ? [] : [[...prefix, ...id]]));
    const found = keys.length === 0 ? [] : await kv.getMany<unknown[]>(keys);
    let next = 0;
    for (const id of chunk) rows.push(id === undefined ? undefined : found[next++]?.value);
  }
  return rows;
}

/**
 * Returns the field of each value that equals it in all rows, if possible the one that is wanted.
 */
function fieldsOf(
  owned: readonly Owned[],
  wanted: string,
  equals: (value: unknown, part: KvKeyPart | undefined) => boolean,
): readonly string[] | undefined {
  const [first] = owned;
  if (first === undefined || first.values.length === 0) return undefined;
  const fields = first.values.map((_, i) => {
    const names = Object.keys(first.row).filter((name) =>
      owned.every(({ row, values }) => equals(row[name], values[i])),
    );
    return names.find((name) => name === wanted) ?? names[0];
  });
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function isLowerCasePart(value: unknown, part: KvKeyPart | undefined): boolean {
  return typeof value === "string" && value.toLowerCase() === part;
}

function isElement(value: unknown, part: KvKeyPart | undefined): boolean {
  return Array.isArray(value) && value.some((element) => isPart(element, part));
}
