import {
  type AnyDatabase,
  InvalidArgumentError,
  type MigrationPlan,
  planMigration,
} from "@keywright/orm";

/** @param fail reports wrong usage: the project still has a model that is to be dropped. */
export async function planWithDrops(
  database: AnyDatabase,
  dropModels: readonly string[] | undefined,
  fail: (message: string) => never,
): Promise<MigrationPlan> {
  try {
    return await planMigration(database, { dropModels });
  } catch (error) {
    if (!(error instanceof InvalidArgumentError) || error.argument !== "dropModels") throw error;
    return fail(`--drop-model: ${error.reason}`);
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
