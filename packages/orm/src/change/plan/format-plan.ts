import type { MigrationStep } from "../../state/run/migration-step.js";
import type { DatabaseModel, LeftValues, MigrationPlan } from "./migration-plan.js";
import { leftText } from "./remove-values.js";

/**
 * Formats a plan as text for people. Each step begins with a line that has its class, its kind and
 * what it applies to. Below it are the reason, what has to be done first if the step is blocked,
 * and the id that accepts it if it is breaking. Models that only the database has, values
 * of removed fields, and warnings follow after the steps.
 *
 * @param options.columns the width at which sentences are wrapped, in characters; 100 by default.
 */
export function formatPlan(
  plan: MigrationPlan,
  options: { readonly columns?: number } = {},
): string {
  const { columns = 100 } = options;
  const closing = [
    plan.isEmpty ? "Nothing to migrate." : summaryText(plan),
    ...plan.databaseOnly.map(databaseOnlyText),
    ...plan.leftValues.map(leftValuesText),
    ...plan.warnings.map(({ reason }) => `Warning: ${reason}`),
  ];
  const blocks = plan.models
    .filter((model) => model.steps.length > 0)
    .map(({ model, steps }) => {
      // Several steps may need the same migration. It is printed once.
      const isRepeated = ({ blocked }: MigrationStep, position: number) =>
        steps.findIndex((other) => other.blocked === blocked) < position;
      const lines = steps.flatMap((step, i) => stepLines(step, columns, isRepeated(step, i)));
      return [model, ...lines].join("\n");
    });
  return [...blocks, closing.flatMap((text) => wrap(text, columns)).join("\n")].join("\n\n");
}

function leftValuesText({ model, fields }: LeftValues): string {
  return `Rows of ${model} may still hold values of ${leftText(fields)}. To remove them: removeValues: [${JSON.stringify(model)}], or in the command --remove-values ${model}.`;
}

function databaseOnlyText({ model, prefix, rows, renamedTo }: DatabaseModel): string {
  const rowsText =
    rows === undefined ? "its rows stay" : `its ${rows} ${rows === 1 ? "row stays" : "rows stay"}`;
  const advice =
    renamedTo === undefined
      ? ""
      : ` If it is called ${renamedTo} now, give the model ${renamedTo} prefix: ${JSON.stringify(prefix)} to use these rows.`;
  return `Only the database has the model ${model}: ${rowsText}.${advice}`;
}

const classWidth = "backfill".length;
const indent = " ".repeat(classWidth + 4);

function stepLines(step: MigrationStep, columns: number, isBlockRepeated: boolean): string[] {
  const place = step.index ?? step.field ?? "";
  const head = `  ${step.class.padEnd(classWidth)}  ${step.kind.replaceAll("-", " ")} ${place}`;
  const lines = [head.trimEnd(), ...wrap(step.reason, columns - indent.length)];
  if (step.blocked !== undefined && isBlockRepeated) lines.push("Blocked until the same is done.");
  else if (step.blocked !== undefined)
    lines.push("Blocked until this is done:", ...blockedLines(step.blocked, columns));
  else if (step.class === "breaking") lines.push(`To accept it: ${JSON.stringify(step.id)}`);
  return indentLines(lines);
}

/** Wraps a sentence. Text of several lines is code, which stays as it is. */
function blockedLines(blocked: string, columns: number): string[] {
  return blocked.includes("\n") ? blocked.split("\n") : wrap(blocked, columns - indent.length);
}

function indentLines([head = "", ...lines]: readonly string[]): string[] {
  return [head, ...lines.map((line) => `${indent}${line}`.trimEnd())];
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function summaryText({ steps }: MigrationPlan): string {
  const blocked = steps.filter((step) => step.blocked !== undefined).length;
  const breaking = steps.filter((step) => step.class === "breaking").length;
  const numberOf = (count: number) =>
    count < steps.length ? `${count} of them` : count === 1 ? "It" : "All of them";
  const verb = (count: number) => (count === 1 ? "is" : "are");
  const notes = [
    `${steps.length} ${steps.length === 1 ? "step" : "steps"}.`,
    ...(blocked > 0
      ? [`${numberOf(blocked)} ${verb(blocked)} blocked: do first what the plan says.`]
      : []),
    ...(breaking > 0
      ? [`${numberOf(breaking)} ${verb(breaking)} breaking and must be accepted.`]
      : []),
    deploymentText(steps),
  ];
  return notes.join(" ");
}

/** Programs with the new and with the old models can both write before these steps. */
const additions: ReadonlySet<MigrationStep["kind"]> = new Set([
  "register",
  "add-field",
  "add-relation",
  "build-index",
  "build-counter",
]);

/** Says which programs can write before and after the steps, and which order leaves no gap. */
function deploymentText(steps: readonly MigrationStep[]): string {
  const fencing = steps.filter((step) => !step.sideBySide);
  if (fencing.length === 0)
    return "Programs with the old models can still write afterwards, without a restart.";
  const blocked = "Programs with the old models cannot write afterwards.";
  const isAddition = ({ kind, class: of, sideBySide }: MigrationStep) =>
    of !== "breaking" && additions.has(kind) && (kind !== "add-field" || sideBySide);
  if (!steps.every(isAddition)) return blocked;
  return `${blocked} For a deployment without a gap, start the programs with the new models first, stop the old ones, and then run this plan.`;
}
