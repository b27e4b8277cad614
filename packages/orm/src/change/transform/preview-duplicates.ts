import type { KvKeyPart } from "@keywright/core";
import { createHash } from "@keywright/core/platform";
import type { RowId } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { indexEntries } from "../../model/keys/index-entries.js";
import { keyText } from "../../model/keys/key-text.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import { isRow } from "../../model/rows/stored-row.js";
import { type AnyDatabase, tableContextOf } from "../../state/context/any-database.js";
import type { TableContext } from "../../state/context/table-context.js";
import { fullPace, scan } from "../../state/run/page-reader.js";

/** The rows that share values of a unique index which the database does not have yet. */
export interface PreviewedDuplicates {
  readonly model: string;
  readonly index: string;
  /**
   * The number of rows whose value an earlier row has. A row with several values counts for each.
   */
  readonly duplicateCount: number;
  /** The primary keys of the first rows that share a value, for the first such values. */
  readonly examples: readonly (readonly RowId[])[];
}

/** The maximum number of hashes in memory: 16 MiB. More values take more scans. */
const maxHashes = 2 ** 21;
const maxExamples = 5;

/**
 * Finds rows that share values of a unique index before the index is built, as the planned or
 * running change of rows leaves them. Scans the rows, twice if some share a value, and once more
 * for each two million values. Writes nothing. Rows that the change or the index cannot take are
 * left out.
 *
 * @param options.onRows is called with the number of rows that were read, after each batch.
 * @param options.hashes the maximum number of values that are remembered at once; for tests.
 * @throws {InvalidArgumentError} if the model has no such index.
 */
export async function previewDuplicates(
  database: AnyDatabase,
  { model: name, index: indexName }: { readonly model: string; readonly index: string },
  options: { readonly onRows?: (rows: number) => void; readonly hashes?: number } = {},
): Promise<PreviewedDuplicates> {
  const { onRows, hashes: maximum = maxHashes } = options;
  const context = tableContextOf(database, name);
  const index = context.model.indexes.find((one) => one.name === indexName);
  if (index === undefined)
    throw new InvalidArgumentError(name, "index", "the model has no such index");
  const none = { model: name, index: indexName, duplicateCount: 0, examples: [] };
  if (!index.unique) return none;
  await context.catalog.reload();
  let rows = 0;
  const scanKeys = (visit: (text: string, id: RowId) => void) =>
    visitKeys(context, index, visit, (read) => {
      rows += read;
      onRows?.(rows);
    });
  const shared = new Set<number>();
  let duplicateCount = 0;
  const parts: [part: number, count: number][] = [[0, 1]];
  for (let next = parts.pop(); next !== undefined; next = parts.pop()) {
    const found = await hashesOfPart(scanKeys, next, parts, maximum);
    for (let i = 1; i < found.length; i++) {
      if (found[i] !== found[i - 1]) continue;
      duplicateCount++;
      if (shared.size < maxExamples) shared.add(found[i]!);
    }
  }
  if (duplicateCount === 0) return none;
  const owners = new Map<string, RowId[]>();
  await scanKeys((text, id) => {
    if (!shared.has(hashOfText(text))) return;
    const ids = owners.get(text) ?? [];
    if (ids.length < maxExamples) owners.set(text, [...ids, id]);
  });
  const examples = [...owners.values()].filter((ids) => ids.length > 1);
  return { ...none, duplicateCount, examples };
}

/**
 * Returns the sorted hashes of a part of the keys. If they are too many, the part is halved, and
 * the other half is added to `parts`.
 */
async function hashesOfPart(
  scanKeys: (visit: (text: string) => void) => Promise<void>,
  [part, initialCount]: readonly [part: number, count: number],
  parts: [part: number, count: number][],
  maximum: number,
): Promise<Float64Array> {
  let hashes = new Float64Array(Math.min(maximum, 1024));
  let [size, count] = [0, initialCount];
  await scanKeys((text) => {
    const hash = hashOfText(text);
    if (hash % count !== part) return;
    if (size === hashes.length && size < maximum) {
      const larger = new Float64Array(Math.min(maximum, size * 2));
      larger.set(hashes);
      hashes = larger;
    }
    while (size === hashes.length) {
      parts.push([part + count, count * 2]);
      count *= 2;
      const kept = hashes.filter((one) => one % count === part);
      hashes.set(kept);
      size = kept.length;
    }
    if (hash % count === part) hashes[size++] = hash;
  });
  return hashes.subarray(0, size).sort();
}

/** Calls a function with each key that a row has in the index. */
async function visitKeys(
  context: TableContext,
  index: CompiledIndex,
  visit: (text: string, id: RowId) => void,
  onRows: (rows: number) => void,
): Promise<void> {
  const { model } = context;
  for await (const { entries } of scan<AnyRow>(context, fullPace, [model.place])) {
    for (const { key, value, versionstamp } of entries) {
      const primaryKey = key.slice(1);
      if (primaryKey.length !== model.primaryKey.length) continue;
      for (const text of keyTexts(context, index, primaryKey, value, versionstamp)) {
        visit(text, pointerOf(primaryKey));
      }
    }
    onRows(entries.length);
  }
}

function keyTexts(
  { model, catalog }: TableContext,
  index: CompiledIndex,
  primaryKey: readonly KvKeyPart[],
  value: unknown,
  versionstamp: string,
): string[] {
  if (!isRow(value)) return [];
  try {
    const upgrade = catalog.snapshot.upgradeOf(versionstamp);
    const row: AnyRow = upgrade === undefined ? value : upgrade(value);
    return indexEntries(model, [index], row, primaryKey).map(({ key }) => keyText(key));
  } catch {
    // The trial of the change, or the run, reports such rows.
    return [];
  }
}

/** Returns 53 bits, as many as a number can hold. */
function hashOfText(text: string): number {
  const digest = createHash("sha256").update(text).digest();
  return digest.readUInt32BE(0) * 2 ** 21 + (digest.readUInt32BE(4) >>> 11);
}
