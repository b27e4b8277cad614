import type {
  CounterStatus,
  IndexStatus,
  MigrationPlan,
  MigrationStatus,
  ModelStatus,
  TransformStatus,
} from "@keywright/orm";
import { counted, shownNumber } from "../terminal/counted.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { unindexedLines } from "../terminal/unindexed-text.js";
import { runnerText } from "./runner-text.js";

/** More duplicates or failed rows than these are not counted. */
const mostCounted = 1000;

/** So many of the rows that an index cannot hold are shown. */
const mostShown = 5;

/** What is shown of something: its name, its state, and what is to be said of it. */
type StatusLine = readonly [name: string, state: string, remark: string];

/** What a database says of its migration, for people. */
export function statusText(
  { stdout }: Terminal,
  { runner, models }: MigrationStatus,
  plan: MigrationPlan,
): string {
  const lines = models.map(modelLines);
  const nameWidth = widest(lines.flat().map(([name]) => name));
  const stateWidth = widest(lines.flat().map(([, state]) => state));
  const blocks = models.map(({ model, indexes }, i) =>
    [
      styled(stdout, "bold", model),
      ...(lines[i] ?? []).map(([name, state, remark]) =>
        `  ${name.padEnd(nameWidth)}  ${styled(stdout, styleOf(state), state.padEnd(stateWidth))}  ${remark}`.trimEnd(),
      ),
      ...refusedLines(Object.values(indexes)),
    ].join("\n"),
  );
  const who = runner === null ? "Nobody is at work." : runnerText(runner);
  return [who, ...blocks, planLine(plan)].join("\n\n");
}

function modelLines({ indexes, counters, transform }: ModelStatus): StatusLine[] {
  return [
    ...Object.entries(indexes).filter(isThere).map(indexLine),
    ...Object.entries(counters).map(counterLine),
    ...(transform === null ? [] : [transformLine(transform)]),
  ];
}

/** The rows that backfills have met: one backfill is of all indexes that it fills. */
function refusedLines(indexes: readonly IndexStatus[]): string[] {
  const met = new Set(indexes.map(({ unindexed }) => unindexed));
  return [...met].flatMap((rows) =>
    rows === null ? [] : unindexedLines(rows.rows, rows.count, mostShown),
  );
}

/** The catalog keeps a word of indexes that were removed. */
function isThere([, { state, declared }]: readonly [string, IndexStatus]): boolean {
  return declared || state !== "absent";
}

function indexLine([name, status]: readonly [string, IndexStatus]): StatusLine {
  const { state, declared, progress, duplicates, unindexed } = status;
  const remarks = [
    ...(progress === null ? [] : [progressText(progress)]),
    ...(duplicates === 0 ? [] : [`${atLeast(duplicates)} with values that others have`]),
    ...(unindexed === null ? [] : [`${counted(unindexed.count, "row")} that it cannot hold`]),
    ...(declared ? [] : ["not in the model"]),
  ];
  return [name, state, remarks.join(", ")];
}

function counterLine([name, { state, progress }]: readonly [string, CounterStatus]): StatusLine {
  const of = name === "" ? "all rows" : name;
  return [`count of ${of}`, state, progress === null ? "" : progressText(progress)];
}

function transformLine({ progress, failed }: TransformStatus): StatusLine {
  const remarks = [
    ...(progress === null ? ["not begun"] : [progressText(progress)]),
    ...(failed === 0 ? [] : [`${atLeast(failed)} failed`]),
  ];
  return ["rows", "changing", remarks.join(", ")];
}

function progressText({ rowsDone, rowsTotal }: NonNullable<IndexStatus["progress"]>): string {
  const total = rowsTotal === undefined ? "" : ` of ${shownNumber(rowsTotal)}`;
  return `${shownNumber(rowsDone)}${total} rows done`;
}

function atLeast(count: number): string {
  return `${count >= mostCounted ? "at least " : ""}${counted(count, "row")}`;
}

function planLine(plan: MigrationPlan): string {
  if (plan.isEmpty) return "The database is as the models say.";
  const { length } = plan.steps;
  return `${counted(length, "step is", "steps are")} left: npx keywright migrate plan`;
}

function styleOf(state: string): "green" | "yellow" {
  return state === "readable" ? "green" : "yellow";
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}
