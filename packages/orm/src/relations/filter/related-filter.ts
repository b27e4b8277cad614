import type { AnyQuery } from "../../context/any-query.js";
import type { ExplainedRelation } from "../../context/related-filters.js";
import type { LinkedRelation } from "../../model/relations/linked-relations.js";

export type RelatedConditions = Pick<AnyQuery, "where" | "related">;

export interface RelatedFilter {
  readonly link: LinkedRelation;
  readonly condition: ExplainedRelation["condition"];
  /** True for `none` and `isNot`: no related row may meet the conditions. */
  readonly isNegated: boolean;
  /** Undefined if every related row meets them. */
  readonly query: RelatedConditions | undefined;
}
