import { formatPlan, type MigrationPlan, type MigrationStep } from "@keywright/orm";
import { styled, type Terminal } from "../terminal/terminal.js";

const mostColumns = 100;

const styles = {
  safe: "green",
  backfill: "cyan",
  rebuild: "cyan",
  data: "yellow",
  breaking: "red",
} as const satisfies Record<MigrationStep["class"], string>;

/** A plan as text, in the columns of the terminal and with its classes in colors. */
export function planText({ stdout }: Terminal, plan: MigrationPlan): string {
  const columns = Math.min(stdout.columns || mostColumns, mostColumns);
  const text = formatPlan(plan, { columns });
  return text.replaceAll(
    /^( {2})(safe|backfill|rebuild|data|breaking)(?= )/gm,
    (_, indent: string, name: MigrationStep["class"]) =>
      `${indent}${styled(stdout, styles[name], name)}`,
  );
}

export function breakingSteps(plan: MigrationPlan): readonly MigrationStep[] {
  return plan.steps.filter((step) => step.class === "breaking");
}

/** The ids of steps, one on each line, as they are written behind `--accept`. */
export function stepIdLines(steps: readonly MigrationStep[]): string[] {
  return steps.map(({ id }) => `  ${JSON.stringify(id)}`);
}
