import type { IndexFields, Model } from "../../../model/model.js";
import type { NotRanked } from "../../../model/type-errors.js";
import type { IndexName } from "../../../read/types/key-path-types.js";
import type { UniqueFields } from "../../../read/types/where-types.js";
import type { RowRankOptions } from "./read-options.js";

/** The argument of `rank`. X is its `index`. */
export interface RankOptions<M extends Model, X extends IndexName<M>>
  extends RowRankOptions<LeadingLists<IndexFields<M["indexes"][X], X>>> {
  /** Identifies the row: values for all fields of the primary key, or of a unique index. */
  readonly where: UniqueFields<M>;
  /** The name of the ranked index whose order counts. */
  readonly index: X & Ranked<M, X>;
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
