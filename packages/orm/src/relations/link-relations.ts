import type { CompiledModel } from "../model/compiled-model.js";
import type { LinkedRelations } from "../model/linked-relations.js";

export function linkRelations(
  models: readonly CompiledModel[],
): ReadonlyMap<string, LinkedRelations> {
  return new Map(models.map((model) => [model.name, { relations: new Map(), referencedBy: [] }]));
}
