import { isDeepStrictEqual } from "node:util";

type Row = Readonly<Record<string, unknown>>;

/** The fields of a row that another version of it does not have, or has otherwise. */
export function differingFields(row: Row, other: Row): Row {
  const differing = Object.entries(row).filter(
    ([field, value]) => !(Object.hasOwn(other, field) && isDeepStrictEqual(value, other[field])),
  );
  return Object.fromEntries(differing);
}

/** Whether two versions of a row are the same one. */
export function isSameRow(row: Row, other: Row): boolean {
  return [differingFields(row, other), differingFields(other, row)].every(
    (fields) => Object.keys(fields).length === 0,
  );
}
