import { isDeepStrictEqual } from "node:util";

type Row = Readonly<Record<string, unknown>>;

/** Returns the fields of a row that are missing or different in another version of it. */
export function differingFields(row: Row, other: Row): Row {
  const differing = Object.entries(row).filter(
    ([field, value]) => !(Object.hasOwn(other, field) && isDeepStrictEqual(value, other[field])),
  );
  return Object.fromEntries(differing);
}

export function isSameRow(row: Row, other: Row): boolean {
  return [differingFields(row, other), differingFields(other, row)].every(
    (fields) => Object.keys(fields).length === 0,
  );
}
