import { type Counter, countersOf } from "../../model/aggregates/counter.js";
import type { CounterName } from "../../model/aggregates/counter-name.js";
import { type SummedField, summedField } from "../../model/aggregates/summed-field.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { canBeAbsent } from "../../model/fields/field-schema.js";
import { hasKnownTypes } from "../../model/fields/key-kinds.js";
import {
  compileDefinition,
  isMaintainedByData,
  isSameField,
} from "../schema/manifests/compile-stored-index.js";
import { hashOf } from "../schema/manifests/hash.js";
import { indexManifest, isSameIndex } from "../schema/manifests/index-manifest.js";
import type { RowManifest } from "../schema/manifests/manifest.js";
import { type CatalogEntry, isMaintained, placeOf, type StoredIndex } from "./catalog-entry.js";
import { countersIn } from "./stored-counters.js";

/** By the model of the program, then by a hash of what it has learned. */
const learned = new WeakMap<CompiledModel, Map<string, CompiledModel>>();
const compiled = new WeakMap<CompiledModel, Map<string, CompiledIndex | undefined>>();

/** The fields of rows, as the program and as the database has them. */
export interface KnownFields {
  readonly ofProgram: RowManifest["fields"];
  readonly ofDatabase: RowManifest["fields"];
}

/**
 * Returns a model with the indexes and counters that only the database has and that are data, so
 * that an older program maintains them: a newer program has added them. Queries of the program do
 * not use them. Indexes with functions, ranks, and definitions that a migration is changing are not
 * among them. Returns the model itself if there are none.
 *
 * The result is the same object as long as the definitions are the same.
 */
export function withLearned(
  model: CompiledModel,
  entry: CatalogEntry,
  fields: KnownFields,
): CompiledModel {
  // Both change entries of indexes in ways that need the indexes of the program.
  if (entry.otherLayout !== undefined || entry.transform !== undefined) return model;
  const indexes = Object.entries(entry.indexes).flatMap(
    ([name, stored]) => learnedIndex(model, name, stored, fields) ?? [],
  );
  const known = [...model.indexes.filter((index) => isStored(entry, index)), ...indexes];
  const counters = learnedCounters(model, entry, known, fields);
  if (indexes.length === 0 && counters.length === 0) return model;
  const key = hashOf([
    indexes.map((index) => [index.place, index.name, indexManifest(index)]),
    counters.map(({ name }) => name),
  ]);
  const models = learned.get(model) ?? new Map<string, CompiledModel>();
  learned.set(model, models);
  const before = models.get(key);
  if (before !== undefined) return before;
  const extended = {
    ...model,
    indexes: [...model.indexes, ...indexes],
    counters: [...model.counters, ...counters],
  };
  models.set(key, extended);
  return extended;
}

function isStored({ indexes }: CatalogEntry, index: CompiledIndex): boolean {
  const stored = Object.hasOwn(indexes, index.name) ? indexes[index.name] : undefined;
  return stored !== undefined && isSameIndex(stored, indexManifest(index));
}

function learnedIndex(
  model: CompiledModel,
  name: string,
  stored: StoredIndex,
  { ofProgram, ofDatabase }: KnownFields,
): CompiledIndex | undefined {
  // A renamed index has the prefix of one of the program. Its unique values are those of that one.
  const isDeclared = model.indexes.some(
    (index) => index.name === name || index.prefix === stored.prefix,
  );
  if (isDeclared || stored.isOther || stored.next !== undefined) return undefined;
  if (!isMaintained(stored.state) || !isMaintainedByData(stored, ofProgram, ofDatabase))
    return undefined;
  if (!stored.fields.every((field) => isAlwaysPresent(model, field))) return undefined;
  const { prefix, fields, unique, normalized, traits = null } = stored;
  const place = placeOf(stored);
  const key = hashOf([name, place, prefix, fields, unique, normalized, traits]);
  const definitions = compiled.get(model) ?? new Map<string, CompiledIndex | undefined>();
  compiled.set(model, definitions);
  if (!definitions.has(key)) {
    const index = compileDefinition(name, stored);
    const isExact = index !== undefined && isSameIndex(stored, indexManifest(index));
    definitions.set(key, isExact ? { ...index, place } : undefined);
  }
  return definitions.get(key);
}

/**
 * False if a transform of the program may leave a field absent that the index has of every row. A
 * program with the index refuses such a row.
 */
function isAlwaysPresent({ schema, requiredFields }: CompiledModel, field: string): boolean {
  const type = Object.hasOwn(schema.shape, field) ? schema.shape[field] : undefined;
  return (
    type === undefined || requiredFields.has(field) || canBeAbsent(type) || hasKnownTypes(type)
  );
}

function learnedCounters(
  model: CompiledModel,
  entry: CatalogEntry,
  known: readonly CompiledIndex[],
  fields: KnownFields,
): Counter[] {
  const declared = new Set(model.counters.map(({ name }) => name));
  return countersIn(entry).flatMap((stored) => {
    if (declared.has(stored.name) || !isMaintained(stored.state)) return [];
    return counterOf(model, stored, known, fields) ?? [];
  });
}

function counterOf(
  model: CompiledModel,
  { name, index: indexName, sum }: CounterName,
  known: readonly CompiledIndex[],
  fields: KnownFields,
): Counter | undefined {
  const sums = sum === undefined ? [] : summed(model, sum, fields);
  const counting = (prefix: string) => ({ counted: true, prefix, sums });
  const index = known.find((one) => one.name === indexName);
  if (indexName !== undefined && index === undefined) return undefined;
  const candidates =
    index === undefined
      ? countersOf(counting(model.prefix), [], model.softDelete)
      : countersOf({ ...counting(model.prefix), counted: false, sums: [] }, [
          { ...counting(index.prefix), name: index.name },
        ]);
  return candidates.find((counter) => counter.name === name);
}

/** Returns the field of a sum, if the program adds it up in the same way. */
function summed(
  { schema }: CompiledModel,
  { field, scale }: NonNullable<CounterName["sum"]>,
  { ofProgram, ofDatabase }: KnownFields,
): readonly SummedField[] {
  const type = Object.hasOwn(schema.shape, field) && schema.shape[field];
  if (!type || !isSameField(field, ofProgram, ofDatabase)) return [];
  const definition = scale === 0 ? field : { decimal: field, scale };
  try {
    return [summedField(definition, type, canBeAbsent(type), cannotSum)];
  } catch (error) {
    if (error === notSummable) return [];
    throw error;
  }
}

const notSummable = new Error("the field cannot be summed");

function cannotSum(): never {
  throw notSummable;
}
