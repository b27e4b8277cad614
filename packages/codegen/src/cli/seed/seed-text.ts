import { cutToWidth } from "../../progress/text-width.js";
import type { SeededModel, SeedOutcome } from "../../seed/seed-rows.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, shownNumber } from "../terminal/text/counted.js";
import { columnsOf, writeText } from "../terminal/text/wrap.js";
import { jsonText } from "../terminal/write-json.js";

interface SeedReport extends SeedOutcome {
  readonly seed: number;
  readonly dryRun: boolean;
}

/** Writes how many rows were created, or some of the rows that would be. */
export function writeSeedText({ stdout }: Terminal, report: SeedReport): void {
  const { models, dryRun, seed, status } = report;
  const width = Math.max(0, ...models.map(({ model }) => model.length));
  const lines = models.flatMap((each) => [
    `${each.model.padEnd(width)}  ${countText(each, dryRun)}`,
    ...(dryRun ? each.sample.map((row) => `  ${rowText(stdout, row)}`) : []),
  ]);
  const end =
    status === "stopped"
      ? `${styled(stdout, "yellow", "Stopped.")} ${dryRun ? "Nothing was written." : "The rows that were created stay."}`
      : dryRun
        ? `Nothing was written. The seed is ${seed}.`
        : `${styled(stdout, "green", "Done.")} To get the same rows in an empty database, add to the command:\n  --seed ${seed}`;
  const next =
    dryRun && status === "done"
      ? [`To create these rows, use the same options without --dry-run and with --seed ${seed}.`]
      : [];
  writeText(stdout, [...lines, end, ...next].join("\n"));
}

function countText({ rows, requested, exhausted }: SeededModel, isDryRun: boolean): string {
  const count = `${counted(rows, "row")}${isDryRun ? " to create" : ""}`;
  if (exhausted === undefined)
    return rows < requested ? `${count} of ${shownNumber(requested)}` : count;
  const key = exhausted === "primaryKey" ? "the primary key" : `the unique index ${exhausted}`;
  return `${count} of ${shownNumber(requested)}: there are no more values for ${key}`;
}

/** A row on one line, which is cut at the width of a terminal. */
function rowText(stdout: NodeJS.WriteStream, row: object): string {
  const text = jsonText(row);
  return stdout.isTTY ? cutToWidth(text, columnsOf(stdout) - 2) : text;
}
