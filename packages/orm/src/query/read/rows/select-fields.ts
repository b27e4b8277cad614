import type { AnyRow } from "../../../model/compiled-model.js";

export function selectFields(row: AnyRow, select: Readonly<Record<string, unknown>>): AnyRow {
  const selected: Record<string, unknown> = {};
  for (const field of Object.keys(select)) {
    if (select[field] && Object.hasOwn(row, field)) selected[field] = row[field];
  }
  return selected;
}
