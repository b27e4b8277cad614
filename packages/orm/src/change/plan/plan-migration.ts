import { InvalidArgumentError } from "../../errors/query-errors.js";
import { rowManifestKey, transformsOf } from "../../state/catalog/catalog-entry.js";
import { readStoredModels } from "../../state/catalog/stored-models.js";
import { rowManifestShape } from "../../state/catalog/system-shapes.js";
import { systemValue } from "../../state/catalog/system-value.js";
import { type AnyDatabase, tableContexts } from "../../state/context/any-database.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { describeStoredModels } from "./describe-stored-models.js";
import { readKeyObstacle } from "./key-obstacle.js";
import type { MigrationPlan, ModelFacts } from "./migration-plan.js";
import { assertDroppable, planDrops } from "./plan-drops.js";
import { changesKey } from "./plan-key.js";
import { planModels } from "./plan-model.js";

/** Reads the current catalog entry and row manifests. */
export async function readFacts(context: TableContext): Promise<ModelFacts> {
  const { kv, model, catalog } = context;
  await catalog.reload();
  const { entry } = catalog.snapshot;
  const readManifest = async (hash: string | undefined) => {
    if (hash === undefined) return undefined;
    const stored = await kv.get(rowManifestKey(model, hash));
    return systemValue<RowManifest>(stored, rowManifestShape, model.name) ?? undefined;
  };
  const storedRow = await readManifest(entry.schema?.hash);
  const earlierRows: (RowManifest | undefined)[] = [];
  for (const { from } of transformsOf(entry.transform)) earlierRows.push(await readManifest(from));
  const { migrations, relations, manifest } = catalog.programRows;
  const isOther = storedRow !== undefined && storedRow.hash !== manifest.hash;
  const isOlder = isOther && (await readManifest(manifest.hash)) !== undefined;
  const facts = { model, entry, storedRow, isOlder, earlierRows, migrations, relations };
  return changesKey(facts) ? { ...facts, keyObstacle: await readKeyObstacle(context) } : facts;
}

export interface PlanOptions {
  /**
   * The names of models to remove with all of their rows. Only models that the database has and the
   * program does not have any longer can be removed. Names that the database does not have are
   * skipped.
   */
  readonly dropModels?: readonly string[] | undefined;
  /**
   * The names of models from whose rows the values of removed fields are removed. This cannot be
   * undone. Models without such values are skipped.
   */
  readonly removeValues?: readonly string[] | undefined;
}

/**
 * Plans the steps that lead from a database to the models that it was opened with. Each step has a
 * class. Writes nothing. The plan is plain data; `formatPlan` makes text of it.
 *
 * ```ts
 * console.log(formatPlan(await planMigration(db)));
 * ```
 *
 * @throws {ModelDroppedError} if a model was dropped, or the database emptied, after it was opened.
 * @throws {InvalidArgumentError} if the program has one of the models in `dropModels`, or lacks one
 * of those in `removeValues`.
 */
export async function planMigration(
  database: AnyDatabase,
  { dropModels = [], removeValues = [] }: PlanOptions = {},
): Promise<MigrationPlan> {
  const contexts = [...tableContexts(database).values()];
  const facts: ModelFacts[] = [];
  assertModels(removeValues, contexts);
  for (const context of contexts) {
    const removesValues = removeValues.includes(context.model.name);
    facts.push({ ...(await readFacts(context)), removesValues });
  }
  const [firstContext] = contexts;
  if (firstContext === undefined) return planModels(facts);
  const { kv } = firstContext;
  const stored = await readStoredModels(kv, contexts);
  assertDroppable(dropModels, contexts, stored);
  const described = await describeStoredModels(kv, contexts, stored);
  const drops = planDrops(dropModels, contexts, stored, described);
  const databaseOnly = described.filter(({ model }) => drops.every((drop) => drop.model !== model));
  return planModels(facts, databaseOnly, drops);
}

function assertModels(names: readonly string[], contexts: readonly TableContext[]): void {
  const unknown = names.find((name) => contexts.every(({ model }) => model.name !== name));
  if (unknown === undefined) return;
  const reason = `the program has no model ${JSON.stringify(unknown)}`;
  throw new InvalidArgumentError("", "removeValues", reason);
}
