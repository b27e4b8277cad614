import type { AnyQuery } from "../../../context/any-query.js";
import type { ReadMeter } from "../../../context/read-meter.js";
import type { TableContext } from "../../../context/table-context.js";
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
  if (related !== undefined && plan.related !== undefined) {
    const opened = related.open(context, meter);
    const rows = plan.related.isFinding
      ? new FoundByRelation(context, opened.keysAfter(after?.slice(1), plan.reverse), query, meter)
      : plainSource(context, { plan, after }, query, meter, false);
    return new RelatedReader(context, plan, rows, opened, query, meter);
  }
  return plainSource(context, { plan, after }, query, meter, looksAhead);
}

function plainSource(
  context: TableContext,
  { plan, after }: ChosenPlan,
  query: AnyQuery,
  meter: ReadMeter,
  looksAhead: boolean,
): RowSource {
  return "merged" in plan
    ? new MergedReader(context, plan, after?.slice(1), query, meter)
    : new RowReader(context, { plan, after }, query, meter, looksAhead);
}
