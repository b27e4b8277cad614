import assert from "node:assert/strict";
import { compareKeys, encodeKey, type Kv, type KvKey, type KvKeyPart } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import type { AnyIndexDefinition } from "../model/indexes/index-definition.js";
import type { Model } from "../model/model.js";
import { isSameData } from "../model/rows/is-same-data.js";
import { ExpectedCounters } from "./expected-counters.js";
import { type RankedEntry, rankedMismatches } from "./ranked-mismatches.js";

/** An entry of an index, or a counter, as it has to be. */
export interface ExpectedEntry {
  readonly key: KvKey;
  readonly value: unknown;
}

type DeclaredPart = string | { readonly desc: string } | ((row: never) => unknown);

type AnyRow = Readonly<Record<string, unknown>>;

/** What is wrong with what a database holds of a model. Nothing is where all lists are empty. */
export interface Mismatches {
  /** Entries and counters that a row should have and that are not there. */
  readonly missing: readonly ExpectedEntry[];
  /** Entries and counters that no row has. */
  readonly unexpected: readonly ExpectedEntry[];
  /** Entries and counters that hold something else than they should. */
  readonly different: readonly {
    readonly key: KvKey;
    readonly value: unknown;
    readonly expected: unknown;
  }[];
  /** Rows that are not where their primary key says. */
  readonly misplaced: readonly KvKey[];
  /** Intervals of ranked indexes that hold other numbers than their entries add up to. */
  readonly miscounted: readonly string[];
}

/**
 * Checks by a scan of the whole database that a model's rows and the entries of some of its indexes
 * match exactly, both ways, and that the counters and sums are those of the rows.
 */
export async function expectIndexesToMatch(
  kv: Kv,
  model: Model,
  indexNames?: string[],
): Promise<void> {
  const none = { missing: [], unexpected: [], different: [], misplaced: [], miscounted: [] };
  assert.deepEqual(await indexMismatches(kv, model, indexNames), none);
}

/**
 * Finds by a scan of the whole database where a model's rows, entries and counters do not match.
 */
async function indexMismatches(kv: Kv, model: Model, indexNames?: string[]): Promise<Mismatches> {
  const indexes = [...Object.entries(model.indexes), ...orderedIndexes(model)].filter(
    ([name]) => indexNames?.includes(name) ?? true,
  );
  const expected: ExpectedEntry[] = [];
  const { count, sum = [], softDelete } = model;
  const allPrefix = softDelete === undefined ? model.name : `${model.name} unmarked(${softDelete})`;
  const all = new ExpectedCounters(model, allPrefix, { count, sum });
  const counters = new Map(
    indexes.map(([name, definition]) => {
      const prefix = prefixOf(model, name, definition);
      return [name, new ExpectedCounters(model, prefix, definition)] as const;
    }),
  );
  const misplaced: KvKey[] = [];
  const ranked = new Map<string, RankedEntry[]>();
  const marked: ExpectedEntry[] = [];
  const markedPrefix = `${model.name}_marked_by_${snakeCase(softDelete ?? "")}`;
  for await (const { key, value: row } of kv.list<AnyRow>({ prefix: [model.name] })) {
    const primaryKey = key.slice(1);
    if (!isAt(model, row, primaryKey)) misplaced.push(key);
    const mark = softDelete === undefined ? undefined : row[softDelete];
    if (mark instanceof Date) {
      marked.push({
        key: [markedPrefix, mark.getTime(), ...primaryKey],
        value: pointer(primaryKey),
      });
      continue;
    }
    all.add(row, []);
    for (const [name, definition] of indexes) {
      for (const entry of expectedEntries(model, name, definition, row, primaryKey)) {
        expected.push(entry);
        counters.get(name)!.add(row, entry.key.slice(1, partsOf(definition).length + 1));
        if (definition.ranked !== true) continue;
        const entries = ranked.get(name) ?? [];
        entries.push({ key: entry.key, row });
        ranked.set(name, entries);
      }
    }
  }
  const found: ExpectedEntry[] = [];
  if (softDelete !== undefined && indexNames === undefined) {
    expected.push(...marked);
    for await (const { key, value } of kv.list({ prefix: [markedPrefix] }))
      found.push({ key, value });
  }
  for (const [name, definition] of indexes) {
    for await (const entry of kv.list({ prefix: [prefixOf(model, name, definition)] })) {
      found.push({ key: entry.key, value: entry.value });
    }
  }
  for (const counter of [all, ...counters.values()]) {
    expected.push(...counter.expected);
    found.push(...(await counter.stored(kv)));
  }
  const miscounted: string[] = [];
  for (const [name, definition] of indexes) {
    if (definition.ranked !== true) continue;
    const prefix = prefixOf(model, name, definition);
    const entries = ranked.get(name) ?? [];
    const problems = await rankedMismatches(kv, prefix, definition, entries);
    miscounted.push(...problems.map((problem) => `${name}: ${problem}`));
  }
  return { ...differences(expected, found), misplaced, miscounted };
}

/** The entries that a row has to have in an index, by the model's own definition of it. */
export function expectedEntries(
  model: Model,
  name: string,
  definition: AnyIndexDefinition,
  row: AnyRow,
  primaryKey: KvKey,
): ExpectedEntry[] {
  const { each, unique, where, store, include } = definition;
  if (typeof where === "function" && !where(row as never)) return [];
  if (typeof where === "object") {
    const differs = ([field, value]: [string, unknown]) => (row[field] ?? null) !== value;
    if (Object.entries(where).some(differs)) return [];
  }
  const values = partsOf(definition).map((part) => {
    if (typeof part === "string") return row[part];
    return typeof part === "function" ? part(row as never) : row[part.desc];
  });
  const isList = (value: unknown) => each === true && Array.isArray(value);
  if (values.some((value) => value === undefined || value === null)) return [];
  const combinations = values.reduce<unknown[][]>(
    (before, value) =>
      isList(value)
        ? (value as unknown[]).flatMap((element) => before.map((one) => [...one, element]))
        : before.map((one) => [...one, value]),
    [[]],
  );
  const entries = new Map<string, ExpectedEntry>();
  for (const combination of combinations) {
    if (combination.some((value) => value === undefined || value === null)) continue;
    const parts = combination.map((value, i) => indexPartOf(definition, i, value));
    const key = [prefixOf(model, name, definition), ...parts, ...(unique ? [] : primaryKey)];
    let value = pointer(primaryKey);
    if (store === "copy") value = row;
    if (include !== undefined) {
      const fields = new Set([...primaryKeyFields(model), ...include]);
      value = Object.fromEntries(
        [...fields].filter((field) => row[field] !== undefined).map((field) => [field, row[field]]),
      );
    }
    entries.set(idOf(key), { key, value });
  }
  return [...entries.values()];
}

function pointer(primaryKey: KvKey): unknown {
  return primaryKey.length === 1 ? primaryKey[0] : primaryKey;
}

function snakeCase(name: string): string {
  return name.replace(/([A-Z])/g, "_$1").toLowerCase();
}

/** What stands in an index's key for a value of the part in a place. */
export function indexPartOf(
  definition: AnyIndexDefinition,
  place: number,
  value: unknown,
): KvKeyPart {
  const own = partsOf(definition)[place];
  const field = typeof own === "object" ? own.desc : own;
  const { normalize: given } = definition;
  const isByField = typeof given === "object" && !Array.isArray(given);
  const normalize = isByField
    ? (given as Readonly<Record<string, typeof given>>)[String(field)]
    : given;
  const part = partOfValue(normalizedBy(normalize, value));
  const isDescending = typeof own === "object";
  return isDescending ? Uint8Array.from([...encodeKey([part]), 0], (byte) => 255 - byte) : part;
}

/** What an independent implementation of `normalize` makes of a value. */
function normalizedBy(normalize: unknown, value: unknown): unknown {
  if (normalize === undefined) return value;
  if (typeof normalize === "function") return normalize(value);
  return [normalize].flat().reduce((text: string, name) => {
    if (name === "lowercase") return text.toLowerCase();
    if (name === "uppercase") return text.toUpperCase();
    return name === "trim" ? text.trim() : text.normalize("NFC");
  }, value as string);
}

function primaryKeyFields(model: Model): readonly string[] {
  return [model.primaryKey].flat() as readonly string[];
}

/** The primary key of a row, as its key has it. */
export function primaryKeyOfRow(model: Model, row: AnyRow): KvKeyPart[] {
  return primaryKeyFields(model).map((field) => partOfValue(row[field]));
}

/** The part of a key that stands for a value. */
function partOfValue(value: unknown): KvKeyPart {
  if (value instanceof Date) return value.getTime();
  // 0 and -0 are one value.
  return (value === 0 ? 0 : value) as KvKeyPart;
}

/** The key's bytes as text: equal for equal keys. */
export function idOf(key: KvKey): string {
  return Buffer.from(encodeKey(key)).toString("hex");
}

function isAt(model: Model, row: AnyRow, primaryKey: KvKey): boolean {
  return idOf(primaryKeyOfRow(model, row)) === idOf(primaryKey);
}

/** The parts of an index's key as they are declared. */
export function partsOf({ key }: AnyIndexDefinition): readonly DeclaredPart[] {
  return [key].flat() as readonly DeclaredPart[];
}

/** `byFavoriteColor` of `users` is `users_by_favorite_color`. */
export function prefixOf(model: Model, name: string, { prefix }: AnyIndexDefinition): string {
  return prefix ?? `${model.name}_${name.replace(/[A-Z]/g, (upper) => `_${upper.toLowerCase()}`)}`;
}

/** The indexes that `min` and `max` need, which the model does not declare. */
function orderedIndexes(model: Model): [string, AnyIndexDefinition][] {
  const groups = [
    { prefix: `${model.name}_all`, definition: { key: [], min: model.min, max: model.max } },
    ...Object.entries(model.indexes).map(([name, definition]) => {
      return { prefix: prefixOf(model, name, definition), definition };
    }),
  ];
  return groups.flatMap(({ prefix, definition }): [string, AnyIndexDefinition][] => {
    const { each, where, reads, normalize, min = [], max = [] } = definition as AnyIndexDefinition;
    return [...new Set([...min, ...max])].flatMap((field) => {
      const key = [...partsOf(definition as AnyIndexDefinition), field];
      const fields = JSON.stringify(key);
      const isDeclared = Object.values(model.indexes).some((other) => {
        const parts = partsOf(other);
        const last = parts.at(-1);
        const lastField = typeof last === "object" ? last.desc : last;
        return JSON.stringify([...parts.slice(0, -1), lastField]) === fields && !other.where;
      });
      if (isDeclared) return [];
      const ofField = `${prefix}_by_${field.replace(/[A-Z]/g, (upper) => `_${upper.toLowerCase()}`)}`;
      const options = { each, where, reads, normalize, prefix: ofField } as object;
      return [[`${prefix}.${field}`, { key, ...options }]];
    });
  });
}

function differences(expected: readonly ExpectedEntry[], found: readonly ExpectedEntry[]) {
  const expectedById = new Map(expected.map((entry) => [idOf(entry.key), entry]));
  const foundById = new Map(found.map((entry) => [idOf(entry.key), entry]));
  const inOrder = <T extends { key: KvKey }>(entries: T[]) =>
    entries.sort((a, b) => compareKeys(a.key, b.key));
  return {
    missing: inOrder([...expectedById].filter(([id]) => !foundById.has(id)).map(([, e]) => e)),
    unexpected: inOrder([...foundById].filter(([id]) => !expectedById.has(id)).map(([, e]) => e)),
    different: inOrder(
      [...foundById.entries()].flatMap(([id, { key, value }]) => {
        const other = expectedById.get(id);
        return other === undefined || isSameData(value, other.value)
          ? []
          : [{ key, value, expected: other.value }];
      }),
    ),
  };
}
