import type { MigrationPlan, MigrationStep } from "@keywright/orm/migrate";
import { askYesNo } from "../../terminal/ask-yes-no.js";
import { isInteractive, type Terminal } from "../../terminal/terminal.js";
import { counted } from "../../terminal/text/counted.js";
import type { MigrateCommandOptions } from "../migrate-options.js";
import { breakingSteps } from "../plan-text.js";

/** The ids of the accepted breaking steps. `refused` if the user could not be asked. */
export type Decision = readonly string[] | "declined" | "refused";

/**
 * Decides by the options, or by asking the user, if the breaking steps of a plan may be run. Only
 * these steps are accepted, even if the plan has changed when it is run.
 *
 * @param alwaysAsk requires a decision even if no step is breaking.
 */
export async function decide(
  terminal: Terminal,
  plan: MigrationPlan,
  options: MigrateCommandOptions,
  alwaysAsk: boolean,
): Promise<Decision> {
  const ids = breakingSteps(plan).map(({ id }) => id);
  const { accept = [], acceptAll = false, json = false } = options;
  const canAsk = !json && isInteractive(terminal);
  // Steps that remove models or values are only planned if they were named. A terminal still asks.
  const named = canAsk ? [] : plan.steps.flatMap(({ kind, id }) => (isNamed(kind) ? id : []));
  const isAccepted = acceptAll || ids.every((id) => accept.includes(id) || named.includes(id));
  const isExplicit = acceptAll || ids.length > 0;
  if (isAccepted && (isExplicit || !alwaysAsk)) return ids;
  if (!canAsk) return "refused";
  return (await askYesNo(terminal, questionOf(ids))) === true ? ids : "declined";
}

function isNamed(kind: MigrationStep["kind"]): boolean {
  return kind === "drop-model" || kind === "remove-values";
}

function questionOf(ids: readonly string[]): string {
  if (ids.length === 0) return "Run this plan?";
  const steps = ids.map((id) => `  ${id}`).join("\n");
  return `${counted(ids.length, "step is", "steps are")} breaking:\n${steps}\nRun ${ids.length === 1 ? "it" : "them"}?`;
}
