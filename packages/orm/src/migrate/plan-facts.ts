import { rowManifestKey } from "../catalog/catalog-entry.js";
import type { TableContext } from "../query/table-context.js";
import type { RowManifest } from "../schema/manifest.js";
import type { MigrationPlan, ModelFacts } from "./migration-plan.js";
import { planModels } from "./plan-migration.js";

/** What of a model's plan is read in the database: its catalog entry, as it is now, and what its rows are. */
export async function readFacts({ kv, model, catalog }: TableContext): Promise<ModelFacts> {
  await catalog.reload();
  const { entry } = catalog.snapshot;
  const read = async (hash: string | undefined) => {
    if (hash === undefined) return undefined;
    return (await kv.get<RowManifest>(rowManifestKey(model, hash))).value ?? undefined;
  };
  const storedRow = await read(entry.schema?.hash);
  const earlierRow = await read(entry.transform?.from);
  const { migrations, relations } = catalog.ownRows;
  return { model, entry, storedRow, earlierRow, migrations, relations };
}

/** Reads what a database is, and plans what leads from there to its models. Writes nothing. */
export async function readPlan(contexts: readonly TableContext[]): Promise<MigrationPlan> {
  const facts: ModelFacts[] = [];
  for (const context of contexts) facts.push(await readFacts(context));
  return planModels(facts);
}
