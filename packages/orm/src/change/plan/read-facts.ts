import { changesKey, readKeyObstacle } from "../../derived/layout/key-steps.js";
import { transformsOf } from "../../state/catalog/catalog-entry.js";
import { readRowManifest } from "../../state/catalog/row-manifests.js";
import type { TableContext } from "../../state/context/table-context.js";
import { type ModelFacts, modelFacts } from "../../state/run/model-facts.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";

/**
 * Reads the current catalog entry and row manifests of a model.
 *
 * @param removesValues true if the values of removed fields are to be removed from the rows.
 */
export async function readFacts(context: TableContext, removesValues = false): Promise<ModelFacts> {
  const { kv, model, catalog } = context;
  await catalog.reload();
  const { entry } = catalog.snapshot;
  const readManifest = (hash: string | undefined) => readRowManifest(kv, model, hash);
  const storedRow = await readManifest(entry.schema?.hash);
  const earlierRows: (RowManifest | undefined)[] = [];
  for (const { from } of transformsOf(entry.transform)) earlierRows.push(await readManifest(from));
  const { migrations, relations, manifest } = catalog.programRows;
  const isOther = storedRow !== undefined && storedRow.hash !== manifest.hash;
  const isOlder = isOther && (await readManifest(manifest.hash)) !== undefined;
  const known = { model, entry, storedRow, isOlder, earlierRows, migrations, relations };
  const facts = modelFacts({ ...known, removesValues });
  return changesKey(facts) ? { ...facts, keyObstacle: await readKeyObstacle(context) } : facts;
}
