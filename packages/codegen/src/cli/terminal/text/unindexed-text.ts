import type { UnindexedRow } from "@keywright/orm/migrate";
import { moreLine } from "./counted.js";
import { shownId, shownText } from "./shown-value.js";

/** Returns lines for the first of the `count` rows that an index cannot contain. */
export function unindexedLines(
  rows: readonly UnindexedRow[],
  count: number,
  maxShown: number,
): string[] {
  const shown = rows.slice(0, maxShown);
  return [
    ...shown.map(
      ({ id, indexes, reason }) =>
        `  row ${shownId(id)}  cannot be in ${indexes.join(", ")}: ${shownText(reason)}`,
    ),
    ...moreLine(count - shown.length),
  ];
}
