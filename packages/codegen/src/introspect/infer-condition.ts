import { isDeepStrictEqual } from "node:util";
import type { KvLike } from "@keywright/core";
import type { EntryPlace } from "./entry-place.js";
import type { InferredIndex, RowCondition } from "./inferred-model.js";
import { isPlainObject } from "./object-shape.js";

type Row = Readonly<Record<string, unknown>>;

/** With fewer entries, texts and numbers that all of their rows have are rather a coincidence. */
const minEntries = 3;

/**
 * Infers which rows have an entry if an index has fewer entries than there are rows. Then it reads
 * all rows.
 *
 * @param indexed rows that have an entry.
 * @returns the condition, or the number of rows without an entry if none was found. Neither if all
 * rows with values for the fields of the index have one.
 */
export async function inferCondition(
  kv: KvLike,
  { prefix, parts, count, shape }: EntryPlace,
  index: InferredIndex,
  indexed: readonly Row[],
): Promise<Pick<InferredIndex, "where" | "missing">> {
  if (!index.isEach && index.entries >= count) return {};
  const candidates = conditionsOf(indexed, shape.fieldNames, index).map((where) => ({
    where,
    entries: 0,
  }));
  let all = 0;
  for await (const { key, value } of kv.list<unknown>({ prefix })) {
    if (key.length !== prefix.length + parts || !isPlainObject(value)) continue;
    const entries = entriesOf(value, index);
    all += entries;
    for (const candidate of candidates)
      if (meets(value, candidate.where)) candidate.entries += entries;
  }
  if (all <= index.entries) return {};
  const found = candidates.find(({ entries }) => entries === index.entries);
  return found === undefined ? { missing: all - index.entries } : { where: found.where };
}

/** Returns conditions on one field that all of these rows meet, the usual ones first. */
function conditionsOf(
  rows: readonly Row[],
  fields: readonly string[],
  { entries }: InferredIndex,
): RowCondition[] {
  const conditions = fields.flatMap((field): RowCondition[] => {
    const value = rows[0]?.[field] ?? null;
    const isPlain =
      value === null ||
      typeof value === "boolean" ||
      (entries >= minEntries && (typeof value === "string" || Number.isFinite(value)));
    const where = { [field]: value } as RowCondition;
    return isPlain && rows.every((row) => meets(row, where)) ? [where] : [];
  });
  const rank = (where: RowCondition) => {
    const [value] = Object.values(where);
    return value === null ? 0 : typeof value === "boolean" ? 1 : 2;
  };
  return conditions.sort((a, b) => rank(a) - rank(b));
}

function meets(row: Row, where: RowCondition): boolean {
  return Object.entries(where).every(([field, value]) =>
    isDeepStrictEqual(row[field] ?? null, value),
  );
}

/** Returns how many entries a row has in an index of all rows. */
function entriesOf(row: Row, { fields, isEach }: InferredIndex): number {
  const values = fields.map((field) => row[field] ?? null);
  const [first] = values;
  if (isEach) return Array.isArray(first) ? new Set(first).size : 0;
  return values.includes(null) ? 0 : 1;
}
