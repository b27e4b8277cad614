import type { MigrationStatus } from "@keywright/orm";
import type {
  CounterStatus,
  IndexStatus,
  MigrationPlan,
  ModelStatus,
  TransformStatus,
} from "@keywright/orm/migrate";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, rowsDoneText } from "../terminal/text/counted.js";
import { unindexedLines } from "../terminal/text/unindexed-text.js";
import { commandLine } from "../terminal/text/wrap.js";
import { runnerText } from "./plan-text.js";

/** The maximum number of duplicates or failed rows that `migrationStatus` counts. */
const maxCounted = 1000;

const maxShown = 5;

type StatusLine = readonly [name: string, state: string, remark: string];

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
      ...(lines[i]?.length === 0 ? ["  no indexes, counters or changes of rows"] : []),
      ...unindexedRowLines(Object.values(indexes)),
    ].join("\n"),
  );
  const runnerLine = runner === null ? "No run is active." : runnerText(runner);
  return [runnerLine, ...blocks, planLine(plan)].join("\n\n");
}

function modelLines({ indexes, counters, transform }: ModelStatus): StatusLine[] {
  return [
    ...Object.entries(indexes).filter(isShown).map(indexLine),
    ...Object.entries(counters).map(counterLine),
    ...(transform === null ? [] : [transformLine(transform)]),
  ];
}

/** Indexes that one backfill fills share a list of rows. */
function unindexedRowLines(indexes: readonly IndexStatus[]): string[] {
  const distinct = new Set(indexes.map(({ unindexed }) => unindexed));
  return [...distinct].flatMap((rows) =>
    rows === null ? [] : unindexedLines(rows.rows, rows.count, maxShown),
  );
}

/** Removed indexes stay in the catalog as `absent`. They are not shown. */
function isShown([, { state, declared }]: readonly [string, IndexStatus]): boolean {
  return declared || state !== "absent";
}

function indexLine([name, status]: readonly [string, IndexStatus]): StatusLine {
  const { state, declared, progress, duplicates, unindexed } = status;
  const remarks = [
    ...(progress === null ? [] : [rowsDoneText(progress)]),
    ...(duplicates === 0 ? [] : [`${atLeast(duplicates)} with a value that is already taken`]),
    ...(unindexed === null ? [] : [`${counted(unindexed.count, "row")} cannot be indexed`]),
    ...(declared ? [] : ["not in the model"]),
  ];
  return [name, state, remarks.join(", ")];
}

function counterLine([name, { state, progress }]: readonly [string, CounterStatus]): StatusLine {
  const of = name === "" ? "all rows" : name;
  return [`count of ${of}`, state, progress === null ? "" : rowsDoneText(progress)];
}

function transformLine({ progress, failed }: TransformStatus): StatusLine {
  const remarks = [
    ...(progress === null ? ["not started"] : [rowsDoneText(progress)]),
    ...(failed === 0 ? [] : [`${atLeast(failed)} failed`]),
  ];
  return ["rows", "changing", remarks.join(", ")];
}

function atLeast(count: number): string {
  return `${count >= maxCounted ? "at least " : ""}${counted(count, "row")}`;
}

function planLine(plan: MigrationPlan): string {
  if (plan.isEmpty) return "The database matches the models.";
  const { length } = plan.steps;
  return `${counted(length, "step is", "steps are")} left. To see the plan:\n${commandLine("migrate plan")}`;
}

function styleOf(state: string): "green" | "yellow" {
  return state === "readable" ? "green" : "yellow";
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}
