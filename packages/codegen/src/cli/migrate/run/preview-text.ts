import { inspect } from "node:util";
import { styled, type Terminal } from "../../terminal/terminal.js";
import { counted, moreLine, shownNumber } from "../../terminal/text/counted.js";
import { failureText } from "../../terminal/text/failure-text.js";
import { shownId } from "../../terminal/text/shown-value.js";
import { differingFields, type ModelPreview } from "./preview-rows.js";

type Row = Readonly<Record<string, unknown>>;

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
  const fails = failedCount === 0 ? "none" : shownNumber(failedCount);
  return [
    `${model}  ${shownNumber(changedCount)} of ${counted(rowCount, "row")} would change, ${fails} would fail`,
    ...refused,
    ...moreLine(failedCount - failed.length),
    ...(changed.length > 0 ? ["The changes in the first of these rows:", ...changed] : []),
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
