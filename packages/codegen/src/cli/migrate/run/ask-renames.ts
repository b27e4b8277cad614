import type { MigrationPlan, MigrationStep } from "@keywright/orm/migrate";
import { askYesNo } from "../../terminal/ask-yes-no.js";
import { isInteractive, type Terminal } from "../../terminal/terminal.js";
import { commandLine } from "../../terminal/text/wrap.js";
import type { MigrateCommandOptions } from "../migrate-options.js";

/** Something that only the database has, and that may have another name in the project. */
interface PossibleRename {
  readonly question: string;
  /** How to keep what is stored under the earlier name. */
  readonly advice: string;
}

/**
 * Asks in a terminal which models, fields and indexes were renamed. Does not ask about steps that
 * the options accept.
 *
 * @returns what to do first for each that was; empty if none was, or if nobody can be asked.
 */
export async function askRenames(
  terminal: Terminal,
  plan: MigrationPlan,
  { json = false, accept = [], acceptAll = false }: MigrateCommandOptions,
): Promise<string[]> {
  if (json || !isInteractive(terminal)) return [];
  const steps = acceptAll ? [] : plan.steps.filter(({ id }) => !accept.includes(id));
  const renames = [...renamedModels(plan), ...steps.flatMap((step) => renameOf(step) ?? [])];
  const advice: string[] = [];
  for (const rename of renames) {
    const answer = await askYesNo(terminal, rename.question);
    // Whoever gives up is not asked again. The steps that remove something still need a yes.
    if (answer === undefined) break;
    if (answer) advice.push(rename.advice);
  }
  return advice;
}

/** Returns how to keep the rows of models that may have been renamed. */
export function renamedModelLines(plan: MigrationPlan): string[] {
  return plan.databaseOnly.flatMap(({ model, prefix, renamedTo }) =>
    renamedTo === undefined
      ? []
      : `Only the database has the model ${model}. If it was renamed: ${modelAdvice(renamedTo, prefix)}`,
  );
}

function renamedModels({ databaseOnly }: MigrationPlan): PossibleRename[] {
  return databaseOnly.flatMap(({ model, prefix, renamedTo }) =>
    renamedTo === undefined ? [] : modelRename(model, renamedTo, prefix),
  );
}

function renameOf({
  kind,
  model,
  field = "",
  index,
  renamedTo,
  prefix = "",
}: MigrationStep): PossibleRename | undefined {
  if (renamedTo === undefined) return undefined;
  if (kind === "drop-model") return modelRename(model, renamedTo, prefix);
  if (kind === "drop-index") {
    return {
      question: `Was the index ${index} of ${model} renamed to ${renamedTo}?`,
      advice: `Give the index ${renamedTo} of ${model} prefix: ${JSON.stringify(prefix)}. Its entries then stay.`,
    };
  }
  const name = JSON.stringify(`${field} is ${renamedTo}`);
  return {
    question: `Was the field ${field} of ${model} renamed to ${renamedTo}?`,
    advice: `Write a migration that moves the values of ${field}:\n${commandLine(`migrate new ${name} --model ${model}`)}`,
  };
}

function modelRename(model: string, renamedTo: string, prefix: string): PossibleRename {
  return {
    question: `Was the model ${model} renamed to ${renamedTo}?`,
    advice: modelAdvice(renamedTo, prefix),
  };
}

function modelAdvice(renamedTo: string, prefix: string): string {
  return `Give the model ${renamedTo} prefix: ${JSON.stringify(prefix)}. Its rows then stay.`;
}
