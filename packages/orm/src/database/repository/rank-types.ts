import type { IndexFields, Model } from "../../model/model.js";
import type { NotRanked } from "../../model/type-errors.js";
import type { IndexName } from "../../read/types/key-path-types.js";
import type { UniqueFields } from "../../read/types/where-types.js";
import type { Direction } from "../../state/context/any-query.js";
import type { AbortableOptions } from "./abortable-options.js";

/** The argument of `rank`. X is its `index`. */
export interface RankOptions<M extends Model, X extends IndexName<M>> extends AbortableOptions {
  /** Identifies the row: values for all fields of the primary key, or of a unique index. */
  readonly where: UniqueFields<M>;
  /** The name of the ranked index whose order counts. */
  readonly index: X & Ranked<M, X>;
  /**
   * The first fields of the index. Only rows with the same values of these fields as the row are
   * counted. All rows of the index if absent.
   */
  readonly by?: LeadingLists<IndexFields<M["indexes"][X], X>>;
  /** `"desc"` to count the rows after the row instead: the largest has rank 0. */
  readonly order?: Direction | undefined;
  /** The maximum number of entries to read. The default is the `maxReads` of the database. */
  readonly maxReads?: number | undefined;
}

/** Model, index → unknown if the index is ranked, otherwise a type error. */
type Ranked<M extends Model, X extends IndexName<M>> = M["indexes"][X] extends {
  readonly ranked: true;
}
  ? unknown
  : NotRanked<X, "declare ranked: true on this index">;

/** Fields → the lists that begin with the first: `["a", "b"]` → `["a"] | ["a", "b"]`. */
type LeadingLists<Fields> = Fields extends readonly [infer First, ...infer Rest]
  ?
      | readonly [First]
      | (LeadingLists<Rest> extends infer L extends readonly unknown[]
          ? readonly [First, ...L]
          : never)
  : never;

/** Model → the type of `skip`: a number if one of its indexes is ranked, otherwise a type error. */
export type Skip<M extends Model> = true extends {
  [N in IndexName<M>]: M["indexes"][N] extends { readonly ranked: true } ? true : false;
}[IndexName<M>]
  ? number
  : NotRanked<keyof M["indexes"], "declare ranked: true on the index of the query">;
