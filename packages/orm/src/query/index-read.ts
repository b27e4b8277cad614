import { compareKeys, type KvKey, type KvKeyPart, type KvListSelector } from "@keywright/core";
import { partAfter } from "../indexes/key-parts.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";

/** Bounds on one key part. */
export interface PartRange {
  readonly gt?: KvKeyPart;
  readonly gte?: KvKeyPart;
  readonly lt?: KvKeyPart;
  readonly lte?: KvKeyPart;
}

const bounds = ["gt", "gte", "lt", "lte"] as const;

type Bound = (typeof bounds)[number];

/**
 * The bounds of a condition on a field, as parts of a key.
 *
 * @param fail throws what is wrong with the condition.
 */
export function rangeOf(
  condition: Readonly<Record<string, unknown>>,
  toPart: (value: unknown) => KvKeyPart | undefined,
  fail: (reason: string) => never,
): PartRange {
  const range: { [B in Bound]?: KvKeyPart } = {};
  for (const [name, value] of Object.entries(condition)) {
    const bound = bounds.find((candidate) => candidate === name);
    if (bound === undefined) fail(`${JSON.stringify(name)} is none of ${bounds.join(", ")}`);
    if (value === undefined) continue;
    const part = value === null ? undefined : toPart(value);
    if (part === undefined) fail(`${name} is not a value that a key can hold`);
    range[bound] = part;
  }
  if (range.gt !== undefined && range.gte !== undefined) fail("gt and gte are both given");
  if (range.lt !== undefined && range.lte !== undefined) fail("lt and lte are both given");
  return range;
}

/** A stretch of an index, or of the rows themselves: values that its first fields have, then bounds on the next. */
export interface IndexRead {
  /** Undefined for the rows themselves, in the order of the primary key. */
  readonly index: CompiledIndex | undefined;
  readonly equals: readonly KvKeyPart[];
  readonly range: PartRange;
  readonly reverse: boolean;
}

const nothing: KvKeyPart = new Uint8Array();

/** How many parts the keys of an index read have. */
export function keyLength(model: CompiledModel, index: CompiledIndex | undefined): number {
  if (index === undefined) return 1 + model.primaryKey.length;
  return 1 + index.fields.length + (index.unique ? 0 : model.primaryKey.length);
}

/**
 * The keys to list for an index read, behind the key `after` where one is given. Undefined where no key can match.
 */
export function selectorOf(
  model: CompiledModel,
  read: IndexRead,
  after: KvKey | undefined,
): KvListSelector | undefined {
  const prefix = [read.index?.prefix ?? model.name, ...read.equals];
  if (prefix.length === keyLength(model, read.index)) {
    // The key is the whole of the prefix: there is one entry at the most.
    return after === undefined ? { start: prefix, end: [...prefix, nothing] } : undefined;
  }
  let start = startOf(prefix, read.range);
  let end = endOf(prefix, read.range);
  if (start === "beyond") return undefined;
  if (after !== undefined && read.reverse) end = after;
  if (after !== undefined && !read.reverse) start = [...after, nothing];
  if (start !== undefined && end !== undefined) {
    // Bounds that cross have nothing between them.
    return compareKeys(start, end) < 0 ? { start, end } : undefined;
  }
  if (start !== undefined) return { prefix, start };
  return end === undefined ? { prefix } : { prefix, end };
}

/** The first key of a range, inclusive; undefined where it has no lower bound, "beyond" where nothing is above it. */
function startOf(prefix: KvKey, { gt, gte }: PartRange): KvKey | "beyond" | undefined {
  if (gt === undefined) return gte === undefined ? undefined : [...prefix, gte];
  const next = partAfter(gt);
  return next === undefined ? "beyond" : [...prefix, next];
}

/** The end of a range, exclusive; undefined where it has no upper bound. */
function endOf(prefix: KvKey, { lt, lte }: PartRange): KvKey | undefined {
  if (lt !== undefined) return [...prefix, lt];
  const next = lte === undefined ? undefined : partAfter(lte);
  return next === undefined ? undefined : [...prefix, next];
}

/** Whether a key of an index read is of the type of its bounds: a range with an open end would go on into other types. */
export function isOfBoundType({ equals, range }: IndexRead, key: KvKey): boolean {
  const bound = range.gt ?? range.gte ?? range.lt ?? range.lte;
  if (bound === undefined) return true;
  return typeof key[1 + equals.length] === typeof bound;
}
