import type { KeyOrder } from "@keywright/core";
import type * as z from "zod";
import { ModelDefinitionError } from "../../errors/schema-errors.js";
import { compileExtremes, compileSums } from "../aggregates/compile-aggregates.js";
import { isNameOfSum } from "../aggregates/counter-name.js";
import { assertBooleans, assertFields, assertOptions } from "../assert-definition.js";
import type { AnyRow, CompiledIndex, CompiledPart } from "../compiled-model.js";
import {
  canBeInKey,
  canBeList,
  canBeNumberAndBigint,
  canHoldElements,
  isList,
  isSameInKey,
} from "../fields/key-kinds.js";
import type { Model } from "../model.js";
import { compileCondition, matchesCondition } from "./compile-condition.js";
import { compileTextIndex, isTextIndex } from "./compile-text-index.js";
import type { AnyIndexDefinition, AnyIndexPart } from "./index-definition.js";
import { defaultIndexPrefix } from "./index-prefix.js";
import { plainPart } from "./plain-index.js";
import type { AnyTextIndexOptions } from "./text-options.js";
import { withNormalizers } from "./with-normalizers.js";

const knownOptions: readonly (keyof AnyIndexDefinition)[] = [
  "key",
  "unique",
  "each",
  "normalize",
  "where",
  "reads",
  "store",
  "include",
  "count",
  "sum",
  "min",
  "max",
  "ranked",
  "prefix",
  "version",
];

export function compileIndex(
  model: Model,
  name: string,
  definition: AnyIndexDefinition | AnyTextIndexOptions,
  primaryKey: readonly string[],
  keyOrder: KeyOrder,
): CompiledIndex {
  const at = `indexes.${name}`;
  const fail = (place: string, reason: string): never => {
    throw new ModelDefinitionError(model.name, place === "" ? at : `${at}.${place}`, reason);
  };
  if (name === "" || name === "primaryKey") fail("", "an index must have another name");
  if (isNameOfSum(name))
    fail("", "sum(…), ranked(…) and unmarked(…) are names of counters; give it another name");
  if (typeof definition !== "object" || definition === null) fail("", "it must be an object");
  if (isTextIndex(definition)) return compileTextIndex(model, name, definition);
  assertOptions(model.name, at, definition, knownOptions);
  assertBooleans(model.name, at, definition, ["unique", "each", "count", "ranked"]);
  const { key, unique = false, each = false, where, store = "pointer" } = definition;
  const { ranked = false } = definition;
  const { version } = definition;
  if (version !== undefined && typeof version !== "number" && typeof version !== "string")
    fail("version", "it must be a number or a string");
  const keyParts = Array.isArray(key) ? (key as readonly AnyIndexPart[]) : [key as AnyIndexPart];
  const plain = keyParts.map((part) => compilePart(part, name, (reason) => fail("key", reason)));
  const normalized = withNormalizers(model, plain, definition, (reason) =>
    fail("normalize", reason),
  );
  const parts = normalized.map((part) =>
    canMixNumbers(model, part) ? { ...part, descendingOrder: keyOrder } : part,
  );
  if (version === undefined) assertOwnCode(parts, where, fail);
  const fields = parts.map((part) => part.field);
  if (parts.length === 0) fail("key", "it must name at least one field");
  assertFields(
    model,
    `${at}.key`,
    parts.filter((part) => part.compute === undefined).map((part) => part.field),
  );
  if (new Set(fields).size < fields.length)
    fail("key", "two of its parts have the same name; a computed part has the name of the index");
  if (parts.some((part) => part.compute) && Object.hasOwn(model.schema.shape, name)) {
    fail(
      "key",
      "queries name a computed part by its index, so the index needs another name than a field",
    );
  }
  const condition =
    where === undefined || typeof where === "function"
      ? undefined
      : compileCondition(model.schema.shape, where, parts, (reason) => fail("where", reason));
  if (store !== "pointer" && store !== "copy") fail("store", 'it must be "pointer" or "copy"');
  const { include, prefix = defaultIndexPrefix(model.prefix ?? model.name, name) } = definition;
  if (typeof prefix !== "string" || prefix === "")
    fail("prefix", "it must be a string that is not empty");
  if (include !== undefined) {
    if (store === "copy")
      fail("include", 'store: "copy" already includes every field; leave out include');
    assertFields(model, `${at}.include`, include);
  }
  const sums = compileSums(model, at, definition.sum);
  const extremes = compileExtremes(model, at, definition, fields);
  const list = each ? arrayPosition(model, parts, (reason) => fail("each", reason)) : undefined;
  assertKinds(model, parts, list, (reason) => fail("key", reason));
  return {
    name,
    prefix,
    place: prefix,
    parts,
    fields,
    unique,
    each: list,
    where:
      condition === undefined
        ? (where as CompiledIndex["where"])
        : (row) => matchesCondition(condition, row),
    condition,
    ...compileReads(model, at, definition, { parts, condition }),
    store: include === undefined ? store : "include",
    include: include === undefined ? [] : [...new Set([...primaryKey, ...include])],
    declaredInclude: include ?? [],
    inKey: fieldsInKey(model, parts, list),
    counted: sums.length > 0 || extremes.size > 0 || ranked || (definition.count ?? false),
    sums,
    ranked,
    extremes,
    isHidden: false,
    unmarked: undefined,
    version: version === undefined ? undefined : String(version),
    text: undefined,
  };
}

function fieldsInKey(
  { schema }: Model,
  parts: readonly CompiledPart[],
  list: number | undefined,
): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const [i, { field, compute, normalize, descending }] of parts.entries()) {
    const type = compute === undefined ? schema.shape[field] : undefined;
    const isChanged = normalize !== undefined || descending || i === list;
    if (type !== undefined && !isChanged && isSameInKey(type)) positions.set(field, i + 1);
  }
  return positions;
}

function compileReads(
  model: Model,
  at: string,
  { where, reads }: AnyIndexDefinition,
  { parts, condition }: Pick<CompiledIndex, "parts" | "condition">,
): Pick<CompiledIndex, "reads" | "keyFields"> {
  const plain = parts.filter((part) => part.compute === undefined).map((part) => part.field);
  const hasFunctions = typeof where === "function" || plain.length < parts.length;
  if (reads !== undefined) {
    assertFields(model, `${at}.reads`, reads);
    if (!hasFunctions) {
      const reason = "only a function in key or where reads fields; leave it out";
      throw new ModelDefinitionError(model.name, `${at}.reads`, reason);
    }
  }
  const isKnown = !hasFunctions || reads !== undefined;
  const fields = [...plain, ...Object.keys(condition ?? {}), ...(reads ?? [])];
  return { reads, keyFields: isKnown ? new Set(fields) : undefined };
}

/** True if a descending part can be a number in one row and a bigint in another. */
function canMixNumbers(
  { schema }: Model,
  { field, descending, normalize, normalizers }: CompiledPart,
): boolean {
  if (!descending || normalizers !== undefined) return false;
  const type = schema.shape[field];
  return normalize !== undefined || (type !== undefined && canBeNumberAndBigint(type));
}

function compilePart(
  part: AnyIndexPart,
  indexName: string,
  fail: (reason: string) => never,
): CompiledPart {
  if (typeof part === "string") return plainPart(part);
  if (typeof part === "function") {
    const compute = part as (row: AnyRow) => unknown;
    return { ...plainPart(indexName), compute };
  }
  if (typeof part !== "object" || part === null || typeof part.desc !== "string") {
    fail("each part must be a field, desc(field) or a function");
  }
  return { ...plainPart(part.desc), descending: true };
}

/**
 * Returns the position of the part whose values are arrays. If no field is an array by its schema,
 * this is the first computed part, or else the field whose schema allows arrays.
 */
function arrayPosition(
  model: Model,
  parts: readonly CompiledPart[],
  fail: (reason: string) => never,
): number {
  const positionsOf = (isMatch: (schema: z.ZodType) => boolean) =>
    [...parts.keys()].filter((position) => {
      const part = parts[position];
      return part?.compute === undefined && isMatch(model.schema.shape[part?.field ?? ""]!);
    });
  const arrays = positionsOf(isList);
  const computed = parts.findIndex((part) => part.compute !== undefined);
  if (arrays.length === 0 && computed >= 0) return computed;
  const [position, ...others] = arrays.length === 0 ? positionsOf(canBeList) : arrays;
  if (position === undefined || others.length > 0) {
    return fail("exactly one part of the key must be an array");
  }
  if (parts[position]?.descending) fail("the part that is an array cannot be descending");
  return position;
}

function assertKinds(
  model: Model,
  parts: readonly CompiledPart[],
  list: number | undefined,
  fail: (reason: string) => never,
): void {
  for (const [position, { field, compute, descending }] of parts.entries()) {
    if (compute !== undefined) continue;
    const schema = model.schema.shape[field]!;
    const isAllowed = position === list ? canHoldElements(schema) : canBeInKey(schema);
    if (isAllowed) continue;
    const kind = position === list ? "elements" : "values";
    const advice =
      isList(schema) && position !== list && !descending
        ? "add each: true to index the elements of the array"
        : "compute a value of the row, key: (row) => …";
    fail(`a key cannot hold the ${kind} of the field ${JSON.stringify(field)}; ${advice}`);
  }
}

/**
 * Refuses functions whose code cannot be compared: all bound functions have the same source.
 *
 * @param fail throws an error about a property of the index.
 */
function assertOwnCode(
  parts: readonly CompiledPart[],
  where: unknown,
  fail: (property: string, reason: string) => never,
): void {
  const assertOwn = (property: string, fn: unknown) => {
    if (typeof fn === "function" && isBound(fn))
      fail(
        property,
        "the code of a function made by bind() cannot be compared; write (row) => … or give the index a version",
      );
  };
  assertOwn("where", where);
  for (const { compute, normalize, normalizers } of parts) {
    assertOwn("key", compute);
    if (normalizers === undefined) assertOwn("normalize", normalize);
  }
}

function isBound(fn: { readonly name: string }): boolean {
  const source = Function.prototype.toString.call(fn);
  return fn.name.startsWith("bound ") && source.includes("[native code]");
}
