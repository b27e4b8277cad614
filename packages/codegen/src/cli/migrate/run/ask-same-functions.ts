import type { AnyDatabase } from "@keywright/orm";
import { type MigrationPlan, recordSameFunctions } from "@keywright/orm/migrate";
import { askYesNo } from "../../terminal/ask-yes-no.js";
import { isInteractive, type Terminal } from "../../terminal/terminal.js";
import { writeText } from "../../terminal/text/wrap.js";
import type { MigrateCommandOptions } from "../migrate-options.js";

/**
 * Keeps the entries of indexes whose functions have only another form, as the options or the user
 * at the terminal say.
 *
 * @returns true if the database has recorded it, so that the plan has changed.
 */
export async function keepSameFunctions(
  terminal: Terminal,
  database: AnyDatabase,
  plan: MigrationPlan,
  { json = false, acceptAll = false, sameFunctions }: MigrateCommandOptions,
): Promise<boolean> {
  const chosen = sameFunctions ?? (json || acceptAll ? [] : await ask(terminal, plan));
  if (chosen !== true && chosen.length === 0) return false;
  const recorded = await recordSameFunctions(database, chosen);
  if (!json)
    for (const name of recorded)
      writeText(terminal.stdout, `Kept the entries of ${name}: its functions return the same.`);
  return recorded.length > 0;
}

async function ask(terminal: Terminal, { steps }: MigrationPlan): Promise<string[]> {
  if (!isInteractive(terminal)) return [];
  const same: string[] = [];
  for (const { model, index, onlyFunctions, reason } of steps) {
    if (!onlyFunctions) continue;
    const question = `${reason}\nDo the functions of ${model}.${index} return the same as before?`;
    const answer = await askYesNo(terminal, question);
    if (answer === undefined) break;
    if (answer) same.push(`${model}.${index}`);
  }
  return same;
}
