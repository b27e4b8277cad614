import { inspect } from "node:util";
import * as fc from "fast-check";
import * as z from "zod";
import { type AnyIndexDefinition, defineModel, desc, type Model } from "../src/index.js";

type AnyRow = Readonly<Record<string, unknown>>;

/** A field with what it takes and what becomes of it. */
interface FieldKind {
  readonly schema: z.ZodType;
  /** What `create` and `update` take. */
  readonly input: fc.Arbitrary<unknown>;
  /** What the schema makes of it; the same where it is absent. */
  readonly stored?: (input: unknown) => unknown;
  /** What an update may do to a stored value beside setting another, with what becomes of it. */
  readonly operations?: readonly FieldOperation[];
  readonly isKey?: boolean;
  readonly isList?: boolean;
  readonly isText?: boolean;
}

interface FieldOperation {
  readonly operation: unknown;
  /** Undefined where the field goes. */
  readonly apply: (stored: unknown) => unknown;
}

const texts = ["", "a", "A", "b", "ab", "\u0000", "é", "\u{1F600}"];
const dates = [-1, 0, 86_400_000, 253_402_300_800_000].map((time) => new Date(time));
const add = (n: number): FieldOperation => ({
  operation: { increment: n },
  apply: (stored) => (stored as number) + n,
});
const unset: FieldOperation = { operation: { unset: true }, apply: () => undefined };
const push = (...elements: unknown[]): FieldOperation => ({
  operation: { push: elements.length === 1 ? elements[0] : elements },
  apply: (stored) => [...(stored as unknown[]), ...elements],
});

/** Fields of every sort. */
const fields: Readonly<Record<string, FieldKind>> = {
  text: { schema: z.string(), input: fc.constantFrom(...texts), isKey: true, isText: true },
  int: {
    schema: z.int(),
    input: fc.integer({ min: -2, max: 3 }),
    operations: [add(1), add(-2), { operation: { set: 7 }, apply: () => 7 }],
    isKey: true,
  },
  float: {
    schema: z.number(),
    input: fc.constantFrom(0, -0, 1.5, -1.5, 1e300),
    operations: [add(0.5)],
    isKey: true,
  },
  big: {
    schema: z.bigint(),
    input: fc.constantFrom(-1n, 0n, 1n, 2n ** 70n),
    operations: [{ operation: { increment: 2n }, apply: (stored) => (stored as bigint) + 2n }],
    isKey: true,
  },
  flag: { schema: z.boolean(), input: fc.boolean(), isKey: true },
  when: { schema: z.date(), input: fc.constantFrom(...dates), isKey: true },
  bytes: {
    schema: z.instanceof(Uint8Array),
    input: fc.constantFrom([], [0], [0, 255], [255]).map((bytes) => Uint8Array.from(bytes)),
    isKey: true,
  },
  maybe: {
    schema: z.string().optional(),
    input: fc.constantFrom(undefined, "x", "y"),
    operations: [unset],
    isKey: true,
    isText: true,
  },
  nullable: {
    schema: z.int().nullable(),
    input: fc.constantFrom(null, 1, 2),
    isKey: true,
  },
  color: {
    schema: z.enum(["red", "green"]).default("red"),
    input: fc.constantFrom(undefined, "red", "green"),
    stored: (input) => input ?? "red",
    isKey: true,
    isText: true,
  },
  shout: {
    schema: z.string().transform((text) => text.length),
    input: fc.constantFrom("", "a", "bb"),
    stored: (input) => (input as string).length,
    isKey: true,
  },
  list: {
    schema: z.array(z.string()),
    input: fc.array(fc.constantFrom("p", "q", "Q"), { maxLength: 4 }),
    operations: [push("p"), push("r", "r")],
    isList: true,
    isText: true,
  },
  dates: {
    schema: z.array(z.date()).default([]),
    input: fc.option(fc.subarray(dates, { maxLength: 2 }), { nil: undefined }),
    stored: (input) => input ?? [],
    isList: true,
  },
  nested: {
    schema: z.object({ deep: z.array(z.map(z.string(), z.int())) }).optional(),
    input: fc.constantFrom(undefined, { deep: [new Map([["a", 1]])] }),
    operations: [unset],
  },
};

/** Primary keys of every sort: their fields, and few values for them. */
const primaryKeys: readonly Readonly<Record<string, Pick<FieldKind, "schema" | "input">>>[] = [
  { id: { schema: z.string(), input: fc.constantFrom("a", "b", "c", "d") } },
  { id: { schema: z.int(), input: fc.integer({ min: -1, max: 2 }) } },
  { id: { schema: z.date(), input: fc.constantFrom(...dates) } },
  {
    tenant: { schema: z.string(), input: fc.constantFrom("s", "t") },
    number: { schema: z.bigint(), input: fc.constantFrom(1n, 2n) },
  },
  { id: { schema: z.ulid(), input: fc.constant(undefined) } },
];

/** A model with what a test needs to know of it. */
export interface RandomModel {
  readonly model: Model;
  readonly primaryKey: readonly string[];
  /** `create` makes the primary key. */
  readonly generatesId: boolean;
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** What `create` takes. */
  readonly input: fc.Arbitrary<AnyRow>;
  /** What the schema makes of that. */
  readonly stored: (input: AnyRow) => AnyRow;
  /** What `update` takes, with what becomes of a row. */
  readonly patch: fc.Arbitrary<Patch>;
}

/** A change of some fields of a row. */
export interface Patch {
  readonly data: AnyRow;
  readonly apply: (row: AnyRow) => AnyRow;
}

/** Which index to make of the fields that a model happens to have. */
interface IndexChoice {
  readonly kind:
    | "field"
    | "compound"
    | "each"
    | "compoundEach"
    | "computed"
    | "computedEach"
    | "mixed";
  readonly places: readonly number[];
  readonly descending: readonly boolean[];
  readonly unique: boolean;
  readonly normalized: boolean;
  readonly partial: "function" | "values" | undefined;
  readonly count: boolean;
  readonly holds: "pointer" | "copy" | "include";
}

const indexChoice: fc.Arbitrary<IndexChoice> = fc.record({
  kind: fc.constantFrom(
    "field",
    "compound",
    "each",
    "compoundEach",
    "computed",
    "computedEach",
    "mixed",
  ),
  places: fc.array(fc.nat(20), { minLength: 3, maxLength: 3 }),
  descending: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  unique: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
  normalized: fc.boolean(),
  partial: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    fc.constant("function" as const),
    fc.constant("values" as const),
  ),
  count: fc.boolean(),
  holds: fc.constantFrom("pointer", "copy", "include"),
});

/** Models with random fields, a primary key of random type, and random indexes of every kind. */
export const randomModel: fc.Arbitrary<RandomModel> = fc
  .record({
    names: fc.subarray(Object.keys(fields), { minLength: 5 }),
    key: fc.constantFrom(...primaryKeys),
    choices: fc.array(indexChoice, { minLength: 1, maxLength: 6, size: "max" }),
    count: fc.boolean(),
    live: fc.boolean(),
  })
  .map(({ names, key, choices, count, live }) => {
    const own = Object.fromEntries(names.map((name) => [name, fields[name] as FieldKind]));
    const indexes: Record<string, AnyIndexDefinition> = {};
    for (const [i, choice] of choices.entries()) {
      const definition = definitionOf(own, choice);
      if (definition !== undefined) indexes[`index${i}`] = definition;
    }
    const all: Record<string, Pick<FieldKind, "schema" | "input" | "stored">> = { ...key, ...own };
    const shape = Object.fromEntries(
      Object.entries(all).map(([name, { schema }]) => [name, schema]),
    );
    const model = defineModel({
      name: "things",
      schema: z.object(shape),
      primaryKey: Object.keys(key),
      indexes,
      count,
      live,
    } as never) as Model;
    return {
      [fc.toStringMethod]: () =>
        inspect({ fields: names, key: Object.keys(key), indexes, count, live }, { depth: 4 }),
      model,
      primaryKey: Object.keys(key),
      generatesId: key === primaryKeys.at(-1),
      fields: own,
      input: fc
        .record(Object.fromEntries(Object.entries(all).map(([name, { input }]) => [name, input])))
        .map(withoutUndefined),
      stored: (input) =>
        withoutUndefined(
          Object.fromEntries(
            Object.entries(all).map(([name, kind]) => [name, storedOf(kind, input[name])]),
          ),
        ),
      patch: patchOf(own),
    };
  });

const conditions: AnyRow = { maybe: null, nullable: null, flag: true, color: "red", int: 1 };

function whereOf(
  own: Readonly<Record<string, FieldKind>>,
  keyFields: readonly string[],
  partial: IndexChoice["partial"],
): Pick<AnyIndexDefinition, "where"> {
  if (partial === "function")
    return { where: (row: AnyRow) => Object.values(row).includes("a") || row.int === 1 };
  const field = Object.keys(conditions).find((name) => name in own && !keyFields.includes(name));
  return partial === undefined || field === undefined
    ? {}
    : { where: { [field]: conditions[field] } };
}

function definitionOf(
  own: Readonly<Record<string, FieldKind>>,
  { kind, places, descending, unique, normalized, partial, count, holds }: IndexChoice,
): AnyIndexDefinition | undefined {
  const keys = Object.keys(own).filter((name) => own[name]?.isKey);
  const lists = Object.keys(own).filter((name) => own[name]?.isList);
  const pick = (names: readonly string[], i: number) => names[(places[i] ?? 0) % names.length];
  const field = pick(keys, 0);
  const list = pick(lists, 1);
  const several = [...new Set(places.map((_, i) => pick(keys, i)))].filter(
    (name) => name !== undefined,
  );
  const options = {
    unique,
    count,
    ...whereOf(own, several, partial),
    ...(holds === "copy" && { store: "copy" as const }),
    ...(holds === "include" && { include: Object.keys(own).slice(0, 2) }),
  };
  const parts = several.map((name, i) => (descending[i] ? desc(name) : name));
  const textOf = (row: AnyRow) => row.text ?? row.maybe ?? row.color;
  const toLower = unique ? (value: string) => value.toLowerCase() : ("lowercase" as const);
  const lower = (name: string) => (normalized && own[name]?.isText ? { normalize: toLower } : {});
  const lowerEach = (...names: readonly (string | undefined)[]) => {
    const texts = names.filter((name) => name !== undefined && own[name]?.isText);
    if (!normalized || texts.length === 0) return {};
    return { normalize: Object.fromEntries(texts.map((name) => [name, toLower])) };
  };
  const asDefinition = (definition: object) => definition as AnyIndexDefinition;
  switch (kind) {
    case "field":
      return field === undefined
        ? undefined
        : descending[0]
          ? asDefinition({ key: desc(field), ...lowerEach(field), ...options })
          : asDefinition({ key: field, ...lower(field), ...options });
    case "compound":
      return parts.length === 0
        ? undefined
        : asDefinition({ key: parts, ...lowerEach(...several), ...options });
    case "mixed":
      return asDefinition({ key: [...parts, textOf], ...lowerEach(several[0]), ...options });
    case "each":
      return list === undefined
        ? undefined
        : asDefinition({ key: list, each: true, ...lower(list), ...options });
    case "compoundEach":
      return list === undefined
        ? undefined
        : asDefinition({
            key: [...parts.slice(1), list, ...parts.slice(0, 1)],
            each: true,
            ...lowerEach(list, ...several),
            ...options,
          });
    case "computed":
      return asDefinition({ key: textOf, ...options });
    case "computedEach": {
      const letters = (row: AnyRow) => [...String(textOf(row) ?? "")];
      return asDefinition({ key: letters, each: true, ...options });
    }
  }
}

function patchOf(own: Readonly<Record<string, FieldKind>>): fc.Arbitrary<Patch> {
  const changes = Object.entries(own).map(([name, kind]) => {
    const values = kind.input.map((value) => ({
      value,
      apply: (stored: unknown) => (value === undefined ? stored : storedOf(kind, value)),
    }));
    const operations = (kind.operations ?? []).map(({ operation, apply }) => ({
      value: operation,
      apply,
    }));
    const change =
      operations.length === 0 ? values : fc.oneof(values, fc.constantFrom(...operations));
    return [name, change] as const;
  });
  return fc.record(Object.fromEntries(changes), { requiredKeys: [] }).map((given) => ({
    data: Object.fromEntries(entriesOf(given).map(([name, { value }]) => [name, value])),
    apply: (row) =>
      withoutUndefined({
        ...row,
        ...Object.fromEntries(
          entriesOf(given).map(([name, { apply }]) => [name, apply(row[name])]),
        ),
      }),
  }));
}

interface Change {
  readonly value: unknown;
  readonly apply: (stored: unknown) => unknown;
}

function entriesOf(changes: Readonly<Record<string, Change | undefined>>): [string, Change][] {
  return Object.entries(changes).filter(
    (entry): entry is [string, Change] => entry[1] !== undefined,
  );
}

function storedOf(kind: Pick<FieldKind, "stored">, input: unknown): unknown {
  return kind.stored === undefined ? input : kind.stored(input);
}

function withoutUndefined(row: AnyRow): AnyRow {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}
