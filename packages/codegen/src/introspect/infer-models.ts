import type { KvLike } from "@keywright/core";
import { pascalCase } from "../types/identifiers.js";
import type { EntryPlace } from "./entry-place.js";
import { inferCondition } from "./infer-condition.js";
import { inferIndex } from "./infer-index.js";
import type { Inference, InferredIndex, InferredModel } from "./inferred-model.js";
import { kvdexPrefix, type ScannedPlaces } from "./scan-places.js";

/** Infers models and indexes from the places of a database. */
export async function inferModels(
  kv: KvLike,
  { places, entries }: ScannedPlaces,
): Promise<Inference> {
  const used = new Set<EntryPlace>();
  const models = [
    ...kvdexModels(places, used),
    ...(await plainModels(
      kv,
      places.filter(({ prefix }) => prefix[0] !== kvdexPrefix),
      used,
    )),
  ];
  return { models, others: places.filter((place) => !used.has(place)), entries };
}

function kvdexModels(places: readonly EntryPlace[], used: Set<EntryPlace>): InferredModel[] {
  const models: InferredModel[] = [];
  for (const rows of places) {
    if (rows.prefix[0] !== kvdexPrefix || rows.prefix.at(-1) !== "__id__") continue;
    if (!rows.hasOnlyObjects) continue;
    used.add(rows);
    const path = rows.prefix.slice(1, -1);
    const isEncoded = [...rows.shape.fieldNames].sort().join() === "ids,isUint8Array";
    const indexes = places.flatMap((place) => {
      const { prefix } = place;
      const kind = prefix.at(-2);
      const field = prefix.at(-1);
      const isIndex = kind === "__index_primary__" || kind === "__index_secondary__";
      if (!isIndex || prefix.slice(1, -2).join("\0") !== path.join("\0")) return [];
      used.add(place);
      const isKnown = typeof field === "string" && rows.shape.fieldNames.includes(field);
      if (!isKnown || isEncoded) return [];
      return [simpleIndex(field, kind === "__index_primary__", place)];
    });
    const primaryKey =
      rows.parts === 1 ? ["id"] : Array.from({ length: rows.parts }, (_, i) => `id${i + 1}`);
    models.push({
      name: path.map(String).join("_"),
      layout: "kvdex",
      rows,
      primaryKey,
      missingId: !primaryKey.every((field) => rows.shape.fieldNames.includes(field)),
      isEncoded,
      indexes,
    });
  }
  return models;
}

function simpleIndex(field: string, isUnique: boolean, place: EntryPlace): InferredIndex {
  const name = `by${pascalCase(field)}`;
  const { prefix, count: entries } = place;
  const no = { hasCopies: false, isEach: false, isLowerCase: false };
  return { name, fields: [field], isUnique, ...no, prefix, entries };
}

async function plainModels(
  kv: KvLike,
  places: readonly EntryPlace[],
  used: Set<EntryPlace>,
): Promise<InferredModel[]> {
  const candidates = rowPlaces(places);
  const names = [...candidates.keys()];
  // The longest name that is followed by `_by_` belongs to the rows of an index.
  const ownerOf = (prefix: string) =>
    names.filter((name) => prefix.startsWith(`${name}_by_`)).sort((a, b) => b.length - a.length)[0];
  const models: InferredModel[] = [];
  for (const [name, rows] of candidates) {
    if (ownerOf(name) !== undefined) continue;
    used.add(rows);
    const keyFields = primaryKeyOf(rows);
    const missingId = keyFields === undefined;
    const primaryKey = keyFields ?? missingKey(rows);
    const indexes: InferredIndex[] = [];
    let isPentagon = false;
    for (const place of places) {
      const [prefix] = place.prefix;
      if (typeof prefix !== "string" || ownerOf(prefix) !== name) continue;
      const suffix = prefix.slice(`${name}_by_`.length);
      const inferred = await inferIndex(kv, place, rows, primaryKey, suffix);
      if (inferred === undefined) continue;
      const { index, rows: indexed } = inferred;
      if (indexes.some((other) => other.name === index.name)) continue;
      used.add(place);
      indexes.push({ ...index, ...(await inferCondition(kv, rows, index, indexed)) });
      isPentagon ||= suffix.startsWith("unique_") && index.hasCopies && index.isUnique;
    }
    const layout = isPentagon ? "pentagon" : "guide";
    models.push({ name, layout, rows, primaryKey, missingId, isEncoded: false, indexes });
  }
  return models;
}

/** Returns the largest group of objects under each first key part. */
function rowPlaces(places: readonly EntryPlace[]): ReadonlyMap<string, EntryPlace> {
  const candidates = new Map<string, EntryPlace>();
  for (const place of places) {
    const [name] = place.prefix;
    if (typeof name !== "string" || name === "" || place.parts === 0) continue;
    const other = candidates.get(name);
    if (place.hasOnlyObjects && (other === undefined || other.count < place.count)) {
      candidates.set(name, place);
    }
  }
  return candidates;
}

/**
 * Returns the fields that equal the parts of the key. Undefined if the rows do not contain them.
 */
function primaryKeyOf({ keyFields }: EntryPlace): readonly string[] | undefined {
  const primaryKey: string[] = [];
  for (const fields of keyFields) {
    const free = [...fields].filter((field) => !primaryKey.includes(field));
    const field = free.find((name) => name === "id") ?? free[0];
    if (field === undefined) return undefined;
    primaryKey.push(field);
  }
  return primaryKey;
}

function missingKey({ parts }: EntryPlace): readonly string[] {
  return parts === 1 ? ["id"] : Array.from({ length: parts }, (_, i) => `id${i + 1}`);
}
