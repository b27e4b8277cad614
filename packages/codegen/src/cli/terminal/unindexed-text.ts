import type { UnindexedRow } from "@keywright/orm";
import { counted } from "./counted.js";
import { shownId, shownText } from "./shown-value.js";

/**
 * Lines for the first rows that an index cannot hold, and for how many more there are.
 *
 * @param count of all of them.
 */
export function unindexedLines(
  rows: readonly UnindexedRow[],
  count: number,
  mostShown: number,
): string[] {
  const shown = rows.slice(0, mostShown);
  return [
    ...shown.map(
      ({ id, indexes, reason }) =>
        `  row ${shownId(id)}  cannot be in ${indexes.join(", ")}: ${shownText(reason)}`,
    ),
    ...(count > shown.length ? [`  … ${counted(count - shown.length, "more", "more")}`] : []),
  ];
}
