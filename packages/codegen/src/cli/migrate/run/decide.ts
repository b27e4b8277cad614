import { confirm, isCancel } from "@clack/prompts";
import type { MigrationPlan } from "@keywright/orm";
import { counted } from "../../terminal/counted.js";
import { isInteractive, type Terminal } from "../../terminal/terminal.js";
import { untilInputEnds } from "../../terminal/until-input-ends.js";
import type { MigrateCommandOptions } from "../migrate-options.js";
import { breakingSteps } from "../plan-text.js";

/** The ids of the breaking steps that may be done; `"declined"` where somebody said no, `"refused"` where nobody was asked. */
export type Decision = readonly string[] | "declined" | "refused";

/**
 * Finds out whether the breaking steps of a plan may be done: by the options, or by asking. What is accepted is these
 * steps and no others, also where the plan is another one when it is run.
 *
 * @param always asks, or wants the options, also where no step is breaking.
 */
export async function decide(
  terminal: Terminal,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
  always: boolean,
): Promise<Decision> {
  const ids = breakingSteps(plan).map(({ id }) => id);
  const { accept = [], acceptAll = false, json = false } = options;
  const isAccepted = acceptAll || ids.every((id) => accept.includes(id));
  const isSaid = acceptAll || ids.length > 0;
  if (isAccepted && (isSaid || !always)) return ids;
  if (json || !isInteractive(terminal)) return "refused";
  const answer = await untilInputEnds(terminal, (signal) =>
    confirm({
      message: questionOf(ids),
      initialValue: false,
      input: terminal.stdin,
      output: terminal.stdout,
      signal,
    }),
  );
  terminal.stdout.write("\n");
  return !isCancel(answer) && answer ? ids : "declined";
}

function questionOf(ids: readonly string[]): string {
  if (ids.length === 0) return "Do this?";
  const steps = ids.map((id) => `  ${id}`).join("\n");
  return `${counted(ids.length, "step is", "steps are")} breaking:\n${steps}\nDo ${ids.length === 1 ? "it" : "them"}?`;
}
