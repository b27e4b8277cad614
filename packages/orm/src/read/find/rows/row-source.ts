import type { AnyQuery } from "../../../state/context/any-query.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { TableContext } from "../../../state/context/table-context.js";
import type { ChosenPlan } from "../../plan/choose-plan.js";
import { MergedReader } from "../entries/merged-reader.js";
import { FoundByRelation, RelatedReader } from "./related-reader.js";
import { RowReader, type RowSource } from "./row-reader.js";

/** Returns a reader of the rows of a plan, after the key of a cursor if there is one. */
export function rowSourceOf(
  context: TableContext,
  { plan, after }: ChosenPlan,
  query: AnyQuery,
  meter: ReadMeter,
  looksAhead: boolean,
): RowSource {
  const { related } = query;
  const opened =
    related === undefined || plan.related === undefined
      ? undefined
      : { plan: plan.related, filters: related.open(context, meter) };
  if (opened?.plan.isFinding) {
    const keys = opened.filters.keysAfter(after?.slice(1), plan.reverse);
    const found = new FoundByRelation(context, keys, query, meter);
    return new RelatedReader(context, plan, found, opened.filters, query, meter);
  }
  const rows =
    "merged" in plan
      ? new MergedReader(context, plan, after?.slice(1), query, meter)
      : new RowReader(context, { plan, after }, query, meter, looksAhead && opened === undefined);
  return opened === undefined
    ? rows
    : new RelatedReader(context, plan, rows, opened.filters, query, meter);
}
