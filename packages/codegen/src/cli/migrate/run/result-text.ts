import { type AnyDatabase, type MigrationResult, migrationStatus } from "@keywright/orm";
import { findDuplicates, type MigratedIndex, type MigrationPlan } from "@keywright/orm/migrate";
import { styled, type Terminal } from "../../terminal/terminal.js";
import { counted, moreLine } from "../../terminal/text/counted.js";
import { failureText } from "../../terminal/text/failure-text.js";
import { shownId, shownKeyValue } from "../../terminal/text/shown-value.js";
import { unindexedLines } from "../../terminal/text/unindexed-text.js";
import { commandLine } from "../../terminal/text/wrap.js";
import { resolveDuplicates, resumeAfterCorrection, unblockFirst } from "../next-lines.js";
import { breakingSteps, runnerText, stepIdLines } from "../plan-text.js";
import type { ModelPreview } from "./preview-rows.js";
import { previewText } from "./preview-text.js";

/** The result of a run, and facts that only the command knows. */
export interface RunReport {
  readonly result: MigrationResult;
  /** The number of rows that a migration of rows went through, by model. */
  readonly changedRows: ReadonlyMap<string, number>;
  readonly isDeclined?: boolean;
  /** The models with rows that would fail. Nothing was begun because of them. */
  readonly failing?: readonly ModelPreview[];
}

const maxShown = 5;

export async function resultText(
  terminal: Terminal,
  database: AnyDatabase,
  report: RunReport,
): Promise<string> {
  const { result, isDeclined = false, failing } = report;
  if (isDeclined) return "Nothing was changed.";
  if (failing !== undefined) return failingText(terminal, failing);
  const lines = [
    ...doneLines(report),
    ...unindexedRowLines(result),
    ...(await duplicateLines(database, result.indexes)),
    ...failedLines(result),
    ...danglingLines(result),
  ];
  const end = await endLines(terminal, database, result);
  return [...lines, ...(lines.length > 0 ? [""] : []), ...end].join("\n");
}

function failingText(terminal: Terminal, failing: readonly ModelPreview[]): string {
  const blocks = failing.map((preview) => `${previewText(terminal, preview)}\n`);
  const heading = styled(terminal.stdout, "yellow", "Nothing was changed.");
  return [
    ...blocks,
    `${heading} Correct the migration or the rows, then run the command again. With --accept-failures it changes rows nevertheless. Then queries that read a failed row throw an error, and a rollback is not possible until all rows are changed.`,
  ].join("\n");
}

function doneLines({ result, changedRows }: RunReport): string[] {
  const failed = (model: string) => result.failed.filter((row) => row.model === model).length;
  const rows = [...changedRows].map(
    ([model, count]) =>
      `${model}  ${counted(count, "row")} processed${failed(model) > 0 ? ", not all of them changed" : ""}`,
  );
  const indexes = result.indexes.map(
    ({ model, index, state }) => `${model}  ${index} is ${stateTexts[state] ?? state}`,
  );
  const dropped = result.dropped.map(
    ({ model, keys }) => `${model}  removed, ${counted(keys, "key")} deleted`,
  );
  return [...rows, ...indexes, ...dropped];
}

const stateTexts: Readonly<Partial<Record<MigratedIndex["state"], string>>> = {
  absent: "not started",
  dropping: "not started: its old entries are being removed",
  "write-only": "not built yet",
  verifying: "built, but not verified yet",
  "unique-pending": "not readable yet",
};

function unindexedRowLines({ status, unindexed, unindexedCount }: MigrationResult): string[] {
  if (unindexedCount === 0) return [];
  const models = [...new Set(unindexed.map(({ model }) => model))];
  const unlisted = unindexedCount - unindexed.length;
  const blocks = models.map((model) => {
    const rows = unindexed.filter((row) => row.model === model);
    // The result does not contain the models of unlisted rows. With one model, all of them belong
    // to it.
    const count = models.length === 1 ? unindexedCount : rows.length;
    return [
      "",
      status === "key-unchanged"
        ? `${model}  these rows have no value for the new primary key:`
        : `${model}  queries that use an index do not find these rows:`,
      ...unindexedLines(rows, count, maxShown),
    ];
  });
  const end = counted(unlisted, "more row is not listed.", "more rows are not listed.");
  return [...blocks.flat(), ...(models.length > 1 && unlisted > 0 ? ["", end] : [])];
}

/** Reads all rows with shared values. The result only lists those that are not indexed. */
async function duplicateLines(
  database: AnyDatabase,
  indexes: readonly MigratedIndex[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const { model, index, duplicateCount } of indexes) {
    if (duplicateCount === 0) continue;
    const { items } = await findDuplicates(database, { model, index, take: maxShown });
    lines.push(
      "",
      `${model}  ${index} is unique, but ${counted(duplicateCount, "row has", "rows have")} a value that is already taken:`,
      ...items.map(
        ({ value, ids }) => `  ${shownKeyValue(value)}  in rows ${ids.map(shownId).join(", ")}`,
      ),
      `To list all:\n${commandLine(`migrate status --duplicates ${model}.${index}`)}`,
    );
  }
  return lines;
}

function failedLines({ failed }: MigrationResult): string[] {
  const models = [...new Set(failed.map(({ model }) => model))];
  return models.flatMap((model) => {
    const rows = failed.filter((row) => row.model === model);
    const first = rows.slice(0, maxShown);
    return [
      "",
      `${model}  these rows could not be changed and stay as they were:`,
      ...first.map((row) => `  ${shownId(row.id)}  ${failureText(row)}`),
      ...(rows.length > first.length ? ["  …"] : []),
      `To list all:\n${commandLine(`migrate status --failed ${model}`)}`,
    ];
  });
}

function danglingLines({ dangling }: MigrationResult): string[] {
  if (dangling.length === 0) return [];
  const shown = dangling.slice(0, maxShown).map(({ model, id, relation, target, targetId }) => {
    return `  ${model} ${shownId(id)}  ${relation}: no row of ${target} has the new primary key ${shownId(targetId)}`;
  });
  return [
    "",
    "These references lead to no row:",
    ...shown,
    ...moreLine(dangling.length - shown.length),
  ];
}

async function endLines(
  terminal: Terminal,
  database: AnyDatabase,
  { status, plan }: MigrationResult,
): Promise<string[]> {
  const styledWord = (style: "green" | "yellow" | "red", text: string) =>
    styled(terminal.stdout, style, text);
  switch (status) {
    case "done":
      return [`${styledWord("green", "Done.")} The database matches the models.`];
    case "duplicates":
      return [`${styledWord("yellow", "Not complete.")} ${resolveDuplicates}`];
    case "failed-rows":
      return [`${styledWord("yellow", "Not complete.")} ${resumeAfterCorrection}`];
    case "unindexed-rows":
      return [
        `${styledWord("yellow", "Not complete.")} The indexes are readable, but lack those rows. Correct the rows, or correct the function of the index and run the command again, which rebuilds the index. If the plan does not contain that change:\n${commandLine("verify --repair")}\nTo see what is left:\n${commandLine("verify")}`,
      ];
    case "key-unchanged":
      return [
        `${styledWord("yellow", "Not complete.")} The primary key stays as it was, and programs can continue. Change or delete these rows by a program that has this key, then: npx keywright migrate resume`,
      ];
    case "stopped":
      return [
        `${styledWord("yellow", "Stopped.")} What was done stays. To continue:\n${commandLine("migrate resume")}`,
      ];
    case "lost":
      return [
        `${styledWord("red", "Another run has taken over.")} To see its progress:\n${commandLine("migrate status")}`,
      ];
    case "busy": {
      const { runner } = await migrationStatus(database);
      const runnerSentence = runner === null ? "Another run was active." : runnerText(runner);
      return [
        `${styledWord("yellow", "Nothing was changed.")} ${runnerSentence} To wait for its end, leave out --no-wait.`,
      ];
    }
    case "blocked":
      return [`${styledWord("red", "Nothing was changed.")} ${unblockFirst}`];
    case "refused":
      return [`${styledWord("yellow", "Nothing was changed.")} ${acceptText(plan)}`];
  }
}

function acceptText(plan: MigrationPlan): string {
  const steps = breakingSteps(plan);
  if (steps.length === 0)
    return "There is no terminal for a question. To confirm the plan, use --accept-all.";
  const all = "Steps are breaking. To accept them, use --accept with their ids, or --accept-all:";
  return [all, ...stepIdLines(steps)].join("\n");
}
