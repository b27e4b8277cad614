import type { KvChange, KvLoggedCommit } from "@keywright/core";
import type { FeedChange, FeedCommit, Row } from "../protocol/rows.js";
import { keyOfParts } from "./row-key.js";
import type { Source, SourceModel } from "./source.js";

const mostRows = 50;

/**
 * Returns a commit of the log as the page shows it, with the rows as they are stored. Undefined if
 * it has changed no row of the model that is asked for.
 *
 * @param property the model, or null for all.
 */
export function feedCommit(
  { models }: Pick<Source, "models">,
  { versionstamp, time, context, changes }: KvLoggedCommit,
  property: string | null,
): FeedCommit | undefined {
  const rows: FeedChange[] = [];
  let others = 0;
  for (const change of changes) {
    const found = models.find(({ model }) => isOfRow(model, change));
    if (found === undefined) others++;
    else if (property === null || found.property === property) rows.push(feedChange(found, change));
  }
  if (rows.length === 0 && property !== null) return undefined;
  const shown = rows.slice(0, mostRows);
  return { versionstamp, time, context, rows: shown, more: rows.length - shown.length, others };
}

function isOfRow({ place, primaryKey }: SourceModel["model"], { key }: KvChange): boolean {
  return key[0] === place && key.length === primaryKey.length + 1;
}

function feedChange({ property, model }: SourceModel, change: KvChange): FeedChange {
  const { type, key, before, after } = change;
  const isRemoval = type === "delete" || type === "expire";
  return {
    property,
    key: keyOfParts(model, key.slice(1)),
    type: isRemoval ? type : before === null ? "create" : "update",
    before: before && rowOf(before.value),
    after: after && rowOf(after.value),
  };
}

/** Other programs can store anything in the place of a row. */
function rowOf(value: unknown): Row {
  const isRow = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRow ? (value as Row) : { value };
}
