import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { inForm, timeIn, timestampFields } from "../../model/options/timestamps.js";

/** Returns the data of a new row with the time of its creation, unless the data has one itself. */
export function withCreationTime({ timestamps }: CompiledModel, data: AnyRow): AnyRow {
  if (timestamps === undefined) return data;
  const now = Date.now();
  const times: Record<string, unknown> = {};
  for (const field of timestampFields)
    if (isLeftOut(data, field)) times[field] = inForm(timestamps[field], now);
  return { ...data, ...times };
}

/**
 * Returns the data of an update with the time of the update, unless the data has one itself. If the
 * clock has gone back, it is the time at which the row was created.
 */
export function withUpdateTime(
  { timestamps }: CompiledModel,
  before: AnyRow,
  data: AnyRow,
): AnyRow {
  // An array is refused later, because it is no object of fields.
  if (timestamps === undefined || Array.isArray(data) || !isLeftOut(data, "updatedAt")) return data;
  const createdAt = timeIn(before.createdAt) ?? Number.NEGATIVE_INFINITY;
  return { ...data, updatedAt: inForm(timestamps.updatedAt, Math.max(Date.now(), createdAt)) };
}

function isLeftOut(data: AnyRow, field: string): boolean {
  return !Object.hasOwn(data, field) || data[field] === undefined;
}
