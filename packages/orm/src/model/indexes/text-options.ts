import type { Language } from "../../text/languages.js";
import type { IndexCannotBe } from "../type-errors.js";
import type { FieldOf, KeyField, RowCondition } from "./field-types.js";

/**
 * Row → the names of its fields whose words an index can contain: strings and arrays of strings.
 */
export type TextFieldOf<Row> = {
  [F in FieldOf<Row>]: NonNullable<Row[F]> extends string | readonly string[] ? F : never;
}[FieldOf<Row>];

/** A full-text index: the words of fields, by which `search` finds rows. */
export interface TextIndexOptions<Row> {
  /** The fields whose words it contains: strings, or arrays of strings. */
  readonly text: TextFieldOf<Row> | readonly TextFieldOf<Row>[];
  /**
   * The fields whose values divide it. A search then names a value of each in `where`, and reads
   * only the words of these rows. A row that lacks one of them is not in the index.
   */
  readonly key?: KeyField<Row> | readonly KeyField<Row>[];
  /**
   * The language whose stemmer reduces words, so that `running` finds `run`. Without it, words are
   * found as they are written, apart from case and accents.
   */
  readonly language?: Language;
  /** How often an occurrence in a field counts, from 0.01 to 1000. The default is 1. */
  readonly weights?: { readonly [F in TextFieldOf<Row>]?: number };
  /** False to tell letters with an accent from those without. The default is true. */
  readonly foldMarks?: boolean;
  /** Words that are not indexed and not looked for, such as `["the", "a"]`. */
  readonly stopWords?: readonly string[];
  /** Selects the rows that the index contains, by values of fields: `{ draft: false }`. */
  readonly where?: RowCondition<Row>;
  /** The first part of the index's keys. `search` of `posts` has `posts_search` by default. */
  readonly prefix?: string;
}

/** A full-text index for any row. */
export interface AnyTextIndexOptions {
  readonly text: string | readonly string[];
  readonly key?: string | readonly string[];
  readonly language?: Language;
  readonly weights?: Readonly<Record<string, number | undefined>>;
  readonly foldMarks?: boolean;
  readonly stopWords?: readonly string[];
  readonly where?: Readonly<Record<string, unknown>>;
  readonly prefix?: string;
}

/** Row, full-text index → `unknown` if it is valid, otherwise an error type. */
export type CheckedTextIndex<Row, I extends AnyTextIndexOptions> = [
  Exclude<NameIn<I["text"]>, TextFieldOf<Row>>,
] extends [never]
  ? CheckedKey<Row, I> & CheckedOptions<I> & CheckedWeights<I>
  : {
      readonly text: TextProblem<Row, Exclude<NameIn<I["text"]>, TextFieldOf<Row>>>;
    };

type NameIn<Names> = Names extends readonly (infer Name)[] ? Name : Exclude<Names, undefined>;

type TextProblem<Row, F> =
  F extends FieldOf<Row>
    ? IndexCannotBe<F, "text takes fields that are strings or arrays of strings">
    : IndexCannotBe<F, "the schema has no field of this name">;

type CheckedKey<Row, I> = I extends { readonly key: infer Key }
  ? [Exclude<NameIn<Key>, KeyField<Row>>] extends [never]
    ? unknown
    : {
        readonly key: IndexCannotBe<
          Exclude<NameIn<Key>, KeyField<Row>>,
          "the key of a text index takes fields whose values a key can hold"
        >;
      }
  : unknown;

type CheckedOptions<I> = [Exclude<keyof I, keyof AnyTextIndexOptions>] extends [never]
  ? unknown
  : {
      readonly [O in Exclude<keyof I, keyof AnyTextIndexOptions>]: IndexCannotBe<
        O,
        "a text index has no such option"
      >;
    };

type CheckedWeights<I extends AnyTextIndexOptions> = I extends { readonly weights: infer Weights }
  ? [Exclude<keyof Weights, NameIn<I["text"]>>] extends [never]
    ? unknown
    : {
        readonly weights: {
          readonly [F in Exclude<keyof Weights, NameIn<I["text"]>>]: IndexCannotBe<
            F,
            "the index has no words of this field; add it to text"
          >;
        };
      }
  : unknown;
