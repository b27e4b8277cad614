import type { DatabaseModel, MigrationPlan, MigrationStep } from "./migration-plan.js";

/**
 * A plan as text for people: a line for each step with its class, what is done and to what, and under it why, what has to be
 * written first, and by which id it is accepted where that is asked for. Behind the steps are the models that are in the
 * database only.
 *
 * @param options.columns how long a line may be, in characters; 100 without it.
 */
export function formatPlan(
  plan: MigrationPlan,
  options: { readonly columns?: number } = {},
): string {
  const { columns = 100 } = options;
  const end = [
    plan.isEmpty ? "Nothing to migrate." : summary(plan),
    ...plan.databaseOnly.map(databaseOnlyText),
  ];
  const blocks = plan.models
    .filter((model) => model.steps.length > 0)
    .map(({ model, steps }) => {
      // One migration may be what several steps wait for.
      const isSaid = ({ blocked }: MigrationStep, position: number) =>
        steps.findIndex((other) => other.blocked === blocked) < position;
      const lines = steps.flatMap((step, i) => stepLines(step, columns, isSaid(step, i)));
      return [model, ...lines].join("\n");
    });
  return [...blocks, end.flatMap((text) => wrap(text, columns)).join("\n")].join("\n\n");
}

function databaseOnlyText({ model, rows }: DatabaseModel): string {
  const which =
    rows === undefined ? "its rows stay" : `its ${rows} ${rows === 1 ? "row stays" : "rows stay"}`;
  return `The model ${JSON.stringify(model)} is in the database only: ${which}.`;
}

const classWidth = "backfill".length;
const indent = " ".repeat(classWidth + 4);

function stepLines(step: MigrationStep, columns: number, isBlockSaid: boolean): string[] {
  const place = step.index ?? step.field ?? "";
  const head = `  ${step.class.padEnd(classWidth)}  ${step.kind.replaceAll("-", " ")} ${place}`;
  const lines = [head.trimEnd(), ...wrap(step.reason, columns - indent.length)];
  if (step.blocked !== undefined && isBlockSaid) lines.push("It is blocked by the same.");
  else if (step.blocked !== undefined) lines.push("It is blocked.", ...step.blocked.split("\n"));
  else if (step.class === "breaking") lines.push(`To accept it: ${JSON.stringify(step.id)}`);
  return indented(lines);
}

/** All lines but the first begin behind the classes. */
function indented([head = "", ...lines]: readonly string[]): string[] {
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

function summary({ steps, isBreaking, needsMigration }: MigrationPlan): string {
  const count = `${steps.length} ${steps.length === 1 ? "step" : "steps"}.`;
  const notes = [
    ...(needsMigration ? ["Some are blocked until a migration is written."] : []),
    ...(isBreaking ? ["Some are breaking, and have to be accepted."] : []),
    ...(steps.every((step) => step.sideBySide)
      ? ["Programs with the old models may go on beside them."]
      : ["Programs with the old models cannot write after them."]),
  ];
  return [count, ...notes].join(" ");
}
