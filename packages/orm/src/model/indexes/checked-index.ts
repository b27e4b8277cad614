import type { CheckedAggregates } from "../aggregates/checked-aggregates.js";
import type { AnyIndexes } from "../model.js";
import type { IndexCannotBe } from "../type-errors.js";
import type { FieldOf, KeyField, KeyValue, RequiredKeyField } from "./field-types.js";
import type { AnyIndexDefinition, DescendingField } from "./index-definition.js";
import type { AnyTextIndexOptions, CheckedTextIndex } from "./text-options.js";

/** Row, index definitions → `unknown` for a valid definition, otherwise an error type. */
export type CheckedIndexes<Row, Indexes> = string extends keyof Indexes
  ? unknown
  : {
      readonly [N in keyof Indexes]: Indexes[N] extends AnyIndexDefinition
        ? CheckedIndex<Row, Indexes[N]>
        : Indexes[N] extends AnyTextIndexOptions
          ? CheckedTextIndex<Row, Indexes[N]>
          : unknown;
    };

/** Indexes of a definition → those that are no full-text indexes. */
export type KeyedIndexes<Indexes> = Indexes extends AnyIndexes
  ? Indexes
  : { readonly [N in Exclude<keyof Indexes, TextIndexName<Indexes>>]: Declared<Indexes[N]> };

/** Indexes of a definition → its full-text indexes. */
export type TextIndexesIn<Indexes> = Indexes extends AnyIndexes
  ? Record<never, never>
  : { readonly [N in TextIndexName<Indexes>]: DeclaredText<Indexes[N]> };

type TextIndexName<Indexes> = {
  [N in keyof Indexes]: Indexes[N] extends AnyTextIndexOptions ? N : never;
}[keyof Indexes];

type Declared<I> = I extends AnyIndexDefinition ? I : never;
type DeclaredText<I> = I extends AnyTextIndexOptions ? I : never;

type CheckedIndex<Row, I extends AnyIndexDefinition> = [keyof I, I] extends [
  keyof AnyIndexDefinition,
  FieldsIndex<RequiredKeyField<Row>>,
]
  ? // `any` fits every constraint, so a field of this type needs the full check.
    unknown extends Row[PartOf<I["key"]> & keyof Row]
    ? CheckedParts<Row, I>
    : unknown
  : CheckedParts<Row, I>;

/** The shape of most indexes. Without a check of each part, they take a fraction of the time. */
type FieldsIndex<F> =
  | (PlainIndex & { readonly key: F })
  | (PlainIndex & { readonly key: readonly F[]; readonly normalize?: never });

type PlainIndex = {
  readonly each?: false;
  readonly where?: (row: never) => boolean;
  readonly sum?: never;
  readonly min?: never;
  readonly max?: never;
};

type CheckedParts<Row, I extends AnyIndexDefinition> = [
  BadPart<Row, PartOf<I["key"]>, I["each"]>,
] extends [never]
  ? CheckedEach<Row, I> &
      CheckedOptions<I> &
      CheckedWhere<Row, I> &
      CheckedAggregates<Row, I["sum"], I["min"], I["max"]>
  : {
      readonly key: PartProblem<Row, BadPart<Row, PartOf<I["key"]>, I["each"]>, I["each"]>;
    };

/** Key of an index → a union of its parts. */
type PartOf<Key> = Key extends readonly (infer Part)[] ? Part : Key;

/** Row, parts, `each` → the parts that cannot be in a key. */
type BadPart<Row, Part, Each> = Part extends unknown
  ? [PartProblem<Row, Part, Each>] extends [never]
    ? never
    : Part
  : never;

type PartProblem<Row, Part, Each> = Part extends string
  ? FieldProblem<Row, Part, Each>
  : Part extends DescendingField<infer F>
    ? F extends KeyField<Row>
      ? never
      : IndexCannotBe<
          F,
          "desc needs a field whose values a key can hold, not an array or an object"
        >
    : Part extends (row: never) => infer Value
      ? ValueProblem<NonNullable<Value>, Each>
      : never;

type FieldProblem<Row, F extends string, Each> =
  F extends FieldOf<Row>
    ? NonNullable<Row[F]> extends KeyValue
      ? never
      : NonNullable<Row[F]> extends readonly KeyValue[]
        ? Each extends true
          ? never
          : IndexCannotBe<F, "an array is indexed by its elements; add each: true">
        : IndexCannotBe<
            F,
            "a key can hold strings, numbers, bigints, booleans, Uint8Arrays and dates: compute one of the row, key: (row) => ..."
          >
    : IndexCannotBe<F, "the schema has no field of this name">;

type ValueProblem<Value, Each> = [Value] extends [
  Each extends true ? KeyValue | readonly KeyValue[] : KeyValue,
]
  ? never
  : [Value] extends [readonly KeyValue[]]
    ? IndexCannotBe<"key", "an array is indexed by its elements; add each: true">
    : IndexCannotBe<
        "key",
        "the function has to return a string, number, bigint, boolean, Uint8Array or date, or nothing for a row that is not to be in the index"
      >;

/** Row, index → an error for `each` if it is true and no part of the key is an array. */
type CheckedEach<Row, I extends AnyIndexDefinition> = I["each"] extends true
  ? true extends IsList<Row, PartOf<I["key"]>>
    ? unknown
    : {
        readonly each: IndexCannotBe<
          "each",
          "one part of the key must be an array, or a function that returns one"
        >;
      }
  : unknown;

type IsList<Row, Part> =
  Part extends FieldOf<Row>
    ? NonNullable<Row[Part]> extends readonly unknown[]
      ? true
      : false
    : Part extends (row: never) => unknown
      ? true
      : false;

/** Row, index → an error for each field of `where` that the schema does not have. */
type CheckedWhere<Row, I extends AnyIndexDefinition> = I extends { readonly where: infer W }
  ? W extends (...args: never) => unknown
    ? unknown
    : [Exclude<keyof W, FieldOf<Row>>] extends [never]
      ? unknown
      : {
          readonly where: {
            readonly [F in Exclude<keyof W, FieldOf<Row>>]: IndexCannotBe<
              F,
              "the schema has no field of this name"
            >;
          };
        }
  : unknown;

/** Index → an error for each option that indexes do not have. */
type CheckedOptions<I extends AnyIndexDefinition> = [
  Exclude<keyof I, keyof AnyIndexDefinition>,
] extends [never]
  ? I extends { readonly normalize: infer N }
    ? CheckedNormalize<N, I["key"]>
    : unknown
  : {
      readonly [O in Exclude<keyof I, keyof AnyIndexDefinition>]: IndexCannotBe<
        O,
        "an index has no such option"
      >;
    };

/**
 * `normalize`, key → an error for a single normalizer in an index over several fields, and for
 * normalizers of fields that are not in the key.
 */
type CheckedNormalize<N, Key> = N extends string | readonly string[] | ((...args: never) => unknown)
  ? Key extends string
    ? unknown
    : {
        readonly normalize: IndexCannotBe<
          "normalize",
          'an index over several fields names each that is normalized: normalize: { email: "lowercase" }'
        >;
      }
  : [Exclude<keyof N, NameOf<PartOf<Key>>>] extends [never]
    ? unknown
    : {
        readonly normalize: {
          readonly [F in Exclude<keyof N, NameOf<PartOf<Key>>>]: IndexCannotBe<
            F,
            "the key has no field of this name"
          >;
        };
      };

/** Part of a key → the name of its field. */
type NameOf<Part> = Part extends DescendingField<infer F> ? F : Extract<Part, string>;
