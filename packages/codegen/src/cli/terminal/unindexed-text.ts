import type { UnindexedRow } from "@keywright/orm";
import { moreLine } from "./counted.js";
import { shownId, shownText } from "./shown-value.js";

/**
 * Returns lines for the first rows that an index cannot hold, and a line with the number of the
 * others.
 *
 * @param count the number of all such rows.
 */
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
