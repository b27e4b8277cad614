import { inspect } from "node:util";
import { counted, shownNumber } from "../../terminal/counted.js";
import { failureText } from "../../terminal/failure-text.js";
import { shownId } from "../../terminal/shown-value.js";
import { styled, type Terminal } from "../../terminal/terminal.js";
import type { ModelPreview } from "./preview-rows.js";
import { differingFields } from "./row-difference.js";

type Row = Readonly<Record<string, unknown>>;

/**
 * Returns a preview as text: the first rows with their changed fields, and the rows that would
 * fail.
 */
export function previewText({ stdout }: Terminal, preview: ModelPreview): string {
  const { model, rows, rowCount, changedCount, failed, failedCount } = preview;
  const changed = rows.flatMap(({ id, before, after }) => [
    `  ${shownId(id)}`,
    styled(stdout, "red", `    - ${fieldsText(before, after)}`),
    styled(stdout, "green", `    + ${fieldsText(after, before)}`),
  ]);
  const refused = failed.map((row) =>
    styled(stdout, "yellow", `  ${shownId(row.id)}  ! ${failureText(row)}`),
  );
  const change = changedCount === 1 ? "changes" : "change";
  const fails = failedCount === 0 ? "none fails" : `${shownNumber(failedCount)} would fail`;
  const more = failedCount - failed.length;
  return [
    `${model}  ${shownNumber(changedCount)} of ${counted(rowCount, "row")} ${change}, ${fails}`,
    ...refused,
    ...(more > 0 ? [`  … ${counted(more, "more", "more")}`] : []),
    ...(changed.length > 0 ? ["What changes in the first of them:", ...changed] : []),
  ].join("\n");
}

/** Returns the fields in which a row differs from another version of it. Strings are escaped. */
function fieldsText(row: Row, other: Row): string {
  return inspect(differingFields(row, other), {
    breakLength: Number.POSITIVE_INFINITY,
    depth: 4,
    maxStringLength: 80,
  });
}
