import type { Kv } from "@keywright/core";
import { ModelDefinitionError } from "../errors/schema-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { placesOfOthers, readStoredModels } from "../state/catalog/stored-models.js";

/**
 * Checks that no new model would store rows or index entries in the places of another model, which
 * only other programs know.
 *
 * @param added the models that the database does not have yet.
 * @param models all models of the program.
 * @throws {ModelDefinitionError} if a place is taken.
 */
export async function assertFreePlaces(
  kv: Kv,
  added: readonly CompiledModel[],
  models: readonly CompiledModel[],
): Promise<void> {
  if (added.length === 0) return;
  const stored = await readStoredModels(
    kv,
    models.map((model) => ({ model })),
  );
  const owners = placesOfOthers([], stored);
  for (const model of added) {
    const assertFree = (at: string, prefix: string): void => {
      const owner = owners.get(prefix);
      if (owner === undefined) return;
      const reason = `its keys would begin with ${JSON.stringify(prefix)}, as those of the model ${owner} that the database has; give it another prefix`;
      throw new ModelDefinitionError(model.name, at, reason);
    };
    assertFree(model.prefix === model.name ? "name" : "prefix", model.prefix);
    for (const { name, prefix } of model.indexes) assertFree(`indexes.${name}`, prefix);
  }
}
