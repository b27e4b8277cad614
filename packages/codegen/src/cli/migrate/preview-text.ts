import { inspect, isDeepStrictEqual } from "node:util";
import { counted, shownNumber } from "../counted.js";
import { failureText } from "../failure-text.js";
import { shownId } from "../shown-value.js";
import { styled, type Terminal } from "../terminal.js";
import type { ModelPreview } from "./preview-rows.js";

type Row = Readonly<Record<string, unknown>>;

/** What a change of rows would make of a model's: of some of them what changes, and which would fail. */
export function previewText({ stdout }: Terminal, preview: ModelPreview): string {
  const { model, rows, rowCount, failed, failedCount } = preview;
  const changed = rows.flatMap(({ id, before, after }) => [
    `  ${shownId(id)}`,
    styled(stdout, "red", `    - ${fieldsText(before, after)}`),
    styled(stdout, "green", `    + ${fieldsText(after, before)}`),
  ]);
  const refused = failed.map((row) =>
    styled(stdout, "yellow", `  ${shownId(row.id)}  ! ${failureText(row)}`),
  );
  const all = counted(rowCount, "row");
  const more = failedCount - failed.length;
  return [
    `${model}  ${all} tried: ${failedCount === 0 ? "none fails" : `${shownNumber(failedCount)} would fail`}`,
    ...refused,
    ...(more > 0 ? [`  … ${counted(more, "more", "more")}`] : []),
    ...(changed.length > 0 ? ["What changes in the first rows:", ...changed] : []),
  ].join("\n");
}

/** The fields of a row that another version of it does not have, or has otherwise. Strings in it are escaped. */
function fieldsText(row: Row, other: Row): string {
  const differing = Object.entries(row).filter(
    ([field, value]) => !(Object.hasOwn(other, field) && isDeepStrictEqual(value, other[field])),
  );
  return inspect(Object.fromEntries(differing), {
    breakLength: Number.POSITIVE_INFINITY,
    depth: 4,
    maxStringLength: 80,
  });
}
