import { encodeKey, type KvEntry, type KvKey, type KvListSelector } from "@keywright/core";
import { type CompiledIndex, type CompiledModel, indexKeys } from "@keywright/orm/codegen";
import type { MeasuredSize, ModelSize } from "../protocol/keys.js";
import type { Row } from "../protocol/rows.js";
import { catalogOf } from "../source/catalog.js";
import { type AnyRepository, modelOf, type Source } from "../source/source.js";
import { countRows } from "./count-rows.js";
import { keyAfter } from "./key-after.js";
import { storedValue } from "./stored-value.js";

/** The first entries and the last ones are read, this many of each. */
const halfOfSample = 500;
const maxBytesOfHalf = 4 * 1024 * 1024;

interface SampledEntry {
  readonly key: KvKey;
  readonly value: unknown;
  readonly bytes: number;
}

interface Sample {
  readonly entries: readonly SampledEntry[];
  /** True if there are no other entries. */
  readonly isAll: boolean;
}

/**
 * Measures the rows and the index entries of a model by a sample of each, so that it takes the same
 * time for any number of rows.
 */
export async function measureModel(source: Source, property: string): Promise<ModelSize> {
  const { model, repository } = modelOf(source, property);
  const catalog = await catalogOf(source, model);
  const keyLength = model.primaryKey.length + 1;
  // Entries with longer keys below those of rows are no rows.
  const isRow = ({ key }: SampledEntry) => key.length === keyLength;
  const rows = await sampleOf(source, catalog?.place ?? model.prefix, isRow);
  const count = rows.isAll ? rows.entries.length : await countAll(repository, model, rows);
  const indexes: Record<string, MeasuredSize> = {};
  for (const index of model.indexes) {
    const stored = catalog?.indexes[index.name];
    const entries = await sampleOf(source, stored?.place ?? stored?.prefix ?? index.prefix);
    const isBuilt = stored?.state === "readable";
    const perRow = isBuilt ? entriesPerRow(model, index, rows) : null;
    const expected = count === null || perRow === null ? null : Math.round(count * perRow);
    indexes[index.name] = sizeOf(entries, expected);
  }
  return { rows: sizeOf(rows, count), indexes };
}

/** A count leaves out rows that are marked as deleted. The sample shows how many these are. */
async function countAll(
  repository: AnyRepository,
  { softDelete }: CompiledModel,
  { entries }: Sample,
): Promise<number | null> {
  const count = await countRows(repository, {});
  if (count === null || softDelete === undefined) return count;
  const unmarked = entries.filter(({ value }) => (value as Row)[softDelete] == null).length;
  return unmarked === 0 ? null : Math.round((count * entries.length) / unmarked);
}

function sizeOf({ entries, isAll }: Sample, count: number | null): MeasuredSize {
  const read = entries.length;
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (isAll) return { entries: read, bytes, precision: "exact" };
  if (count === null || count < read) return { entries: read, bytes, precision: "minimum" };
  return { entries: count, bytes: Math.round((bytes / read) * count), precision: "estimate" };
}

/** Rows that are far apart may differ: the first ones are often older than the last ones. */
async function sampleOf(
  source: Source,
  place: string,
  isCounted: (entry: SampledEntry) => boolean = () => true,
): Promise<Sample> {
  const prefix = [place];
  const first = await readHalf(source, { prefix }, false);
  const end = first.entries.at(-1);
  if (first.isAll || end === undefined)
    return { ...first, entries: first.entries.filter(isCounted) };
  const last = await readHalf(source, { prefix, start: keyAfter(end.key) }, true);
  return { entries: [...first.entries, ...last.entries].filter(isCounted), isAll: last.isAll };
}

async function readHalf(
  { kv }: Source,
  selector: KvListSelector,
  reverse: boolean,
): Promise<Sample> {
  const entries: SampledEntry[] = [];
  let total = 0;
  for await (const entry of kv.list(selector, { reverse, batchSize: 100 })) {
    const { key, value } = entry as KvEntry<unknown>;
    if (entries.length === halfOfSample || total > maxBytesOfHalf) return { entries, isAll: false };
    const bytes = encodeKey(key).length + (storedValue(value).bytes ?? 0);
    entries.push({ key, value, bytes });
    total += bytes;
  }
  return { entries, isAll: true };
}

/** Returns how many entries an index has for a row, by the sample. Null if rows do not fit it. */
function entriesPerRow(
  model: CompiledModel,
  index: CompiledIndex,
  { entries }: Sample,
): number | null {
  try {
    const counts = entries.map(({ key, value }) => {
      return indexKeys(model, index, value as Row, key.slice(1)).length;
    });
    return counts.reduce((sum, count) => sum + count, 0) / Math.max(counts.length, 1);
  } catch {
    return null;
  }
}
