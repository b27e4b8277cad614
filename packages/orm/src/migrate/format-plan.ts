import type { MigrationPlan, MigrationStep } from "./migration-plan.js";

/**
 * A plan as text for people: a line for each step with its class, what is done and to what, and under it why, and what has
 * to be written first.
 *
 * @param options.columns how long a line may be, in characters; 100 without it.
 */
export function formatPlan(
  plan: MigrationPlan,
  options: { readonly columns?: number } = {},
): string {
  const { columns = 100 } = options;
  if (plan.isEmpty) return "Nothing to migrate.";
  const blocks = plan.models
    .filter((model) => model.steps.length > 0)
    .map(({ model, steps }) =>
      [model, ...steps.flatMap((step) => stepLines(step, columns))].join("\n"),
    );
  return [...blocks, wrap(summary(plan), columns).join("\n")].join("\n\n");
}

const classWidth = "backfill".length;
const indent = " ".repeat(classWidth + 4);

function stepLines(step: MigrationStep, columns: number): string[] {
  const place = step.index ?? step.field ?? "";
  const head = `  ${step.class.padEnd(classWidth)}  ${step.kind.replaceAll("-", " ")} ${place}`;
  const lines = [head.trimEnd(), ...wrap(step.reason, columns - indent.length)];
  if (step.blocked === undefined) return indented(lines);
  return indented([...lines, "It is blocked.", ...step.blocked.split("\n")]);
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
