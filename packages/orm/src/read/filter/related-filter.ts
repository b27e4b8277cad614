import type { LinkedRelation } from "../../model/relations/linked-relations.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ExplainedRelation } from "../../state/context/open-filters.js";

export type RelatedConditions = Pick<AnyQuery, "where" | "related">;

export interface RelatedFilter {
  readonly link: LinkedRelation;
  readonly condition: ExplainedRelation["condition"];
  /** True for `none` and `isNot`: no related row may meet the conditions. */
  readonly isNegated: boolean;
  /** Undefined if every related row meets them. */
  readonly query: RelatedConditions | undefined;
}
