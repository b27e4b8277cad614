import {
  formatPlan,
  type MigrationPlan,
  type MigrationStep,
  type RunnerStatus,
} from "@keywright/orm/migrate";
import { styled, type Terminal } from "../terminal/terminal.js";

const maxColumns = 100;

const styles = {
  safe: "green",
  backfill: "cyan",
  rebuild: "cyan",
  data: "yellow",
  breaking: "red",
} as const satisfies Record<MigrationStep["class"], string>;

/** Returns a plan as text, in the width of the terminal and with colored classes. */
export function planText({ stdout }: Terminal, plan: MigrationPlan): string {
  const columns = Math.min(stdout.columns || maxColumns, maxColumns);
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

/** Returns the ids of steps, one per line, in the notation for `--accept`. */
export function stepIdLines(steps: readonly MigrationStep[]): string[] {
  return steps.map(({ id }) => `  ${JSON.stringify(id)}`);
}

/** Returns a sentence about the run that holds the lease of a database. */
export function runnerText({ id, host, since, alive }: RunnerStatus): string {
  const run = `Run ${id} on ${host}, started at ${since.toISOString()},`;
  return alive ? `${run} is active.` : `${run} was killed. The next run continues its work.`;
}
