import type { FieldOf } from "../../model/indexes/field-types.js";
import type { AnyModels, Model, Row } from "../../model/model.js";
import type { NoIndexServes } from "../../model/type-errors.js";
import type { IgnoredPart } from "../../text/parsed-query.js";
import type { TextRange } from "../../text/snippet.js";
import type { ShapeOptions } from "./options/query-options.js";
import type { ReadOptions, RowFilterOptions } from "./options/read-options.js";

/** Model → the names of its full-text indexes. */
export type TextIndexName<M extends Model> = keyof NonNullable<M["textIndexes"]> & string;

/** Options of a search, for any model. */
export interface RowSearchOptions<R = unknown> extends ReadOptions, RowFilterOptions<R> {
  /** True if words of five letters or more also match words that differ by one edit. */
  readonly typos?: boolean | undefined;
  /** The maximum number of rows. The default is 20. */
  readonly take?: number | undefined;
  /** The cursor of an earlier page of the same search. The result begins after that page. */
  readonly cursor?: string | null | undefined;
}

/** The argument of `search`. */
export interface SearchOptions<M extends Model, Models extends AnyModels>
  extends RowSearchOptions<Row<M>>,
    ShapeOptions<M, Models> {
  /**
   * What a person has typed: words, all of which must occur, `"a phrase"`, the beginning of a word
   * `ca*`, `-excluded`, `this OR that`, and `title:word` for one field. Any text is a query.
   */
  readonly query: string;
  /** A value for each field in the `key` of the index, and no others. */
  readonly where?: { readonly [F in FieldOf<Row<M>>]?: Row<M>[F] } | undefined;
  /** The name of the full-text index. Required if the model has several. */
  readonly index?: TextIndexName<M> | undefined;
}

/** A row that a search has found. */
export interface SearchMatch<R> {
  readonly row: R;
  /** How well the row matches, by BM25. Higher is better. */
  readonly score: number;
  /** Field → the parts of its text that the query has found, in their order. */
  readonly highlights: Readonly<Record<string, readonly TextRange[]>>;
}

/** The rows that a search has found, the best first. */
export interface SearchPage<R> {
  readonly items: readonly SearchMatch<R>[];
  /** The position after the last row. Null if there are no more rows. */
  readonly cursor: string | null;
  /** How many rows match the query, before `filter`. */
  readonly count: number;
  /** The parts of the query that had no effect, and why. */
  readonly ignored: readonly IgnoredPart[];
}

/** Model, `where`, `index` → unknown if an index serves the search, otherwise a type error. */
export type SearchServed<M extends Model, W, X> = [TextIndexName<M>] extends [never]
  ? {
      readonly query: NoIndexServes<
        "text",
        'the model has no full-text index; add one: search: { text: ["title"] }'
      >;
    }
  : string extends TextIndexName<M>
    ? unknown
    : [X] extends [never]
      ? IsUnion<TextIndexName<M>> extends true
        ? { readonly index: TextIndexName<M> }
        : ServedBy<M, TextIndexName<M>, W>
      : ServedBy<M, X & TextIndexName<M>, W>;

type ServedBy<M extends Model, N extends TextIndexName<M>, W> = [
  Exclude<KeyOfText<M, N>, keyof W> | Exclude<keyof W, KeyOfText<M, N>>,
] extends [never]
  ? unknown
  : {
      readonly where: NoIndexServes<
        Exclude<KeyOfText<M, N>, keyof W> | Exclude<keyof W, KeyOfText<M, N>>,
        "where takes a value of each field in the key of the full-text index and no others; put others into filter"
      >;
    };

type KeyOfText<M extends Model, N extends TextIndexName<M>> = NonNullable<
  M["textIndexes"]
>[N] extends { readonly key: infer K }
  ? K extends readonly (infer F)[]
    ? F
    : K
  : never;

type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never;
