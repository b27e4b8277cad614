import { type AnyDatabase, InvalidArgumentError } from "@keywright/orm";
import { type MigrationPlan, planMigration } from "@keywright/orm/migrate";
import type { MigrateCommandOptions } from "./migrate-options.js";

/**
 * @param fail reports wrong usage: the project still has a model that is to be dropped, or lacks
 * one from whose rows values are to be removed.
 */
export async function planWithDrops(
  database: AnyDatabase,
  { dropModel, removeValues }: Pick<MigrateCommandOptions, "dropModel" | "removeValues">,
  fail: (message: string) => never,
): Promise<MigrationPlan> {
  try {
    return await planMigration(database, { dropModels: dropModel, removeValues });
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    if (error.argument === "dropModels") return fail(`--drop-model: ${error.reason}`);
    if (error.argument === "removeValues") return fail(`--remove-values: ${error.reason}`);
    throw error;
  }
}

/** Returns a sentence for each model to drop that the database does not have. */
export function missingModelLines(
  { steps }: MigrationPlan,
  dropModels: readonly string[] = [],
): string[] {
  const dropped = steps.flatMap(({ kind, model }) => (kind === "drop-model" ? model : []));
  const missing = dropModels.filter((name) => !dropped.includes(name));
  return missing.map((name) => `The database does not have the model ${name}.`);
}
