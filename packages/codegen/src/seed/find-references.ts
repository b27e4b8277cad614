import type { CompiledModel } from "@keywright/orm/codegen";
import type { Reference } from "./seed-model.js";
import { absentValue } from "./values/absent-value.js";

/**
 * Returns the references of each model, by its name. A relation can be declared by either side, or
 * by a third model that it goes through.
 */
export function findReferences(
  models: readonly CompiledModel[],
): ReadonlyMap<string, readonly Reference[]> {
  const byName = new Map(models.map((model) => [model.name, model]));
  const found = new Map<string, Map<string, Reference>>();
  const add = (holder: string, fields: readonly string[], target: string) => {
    const [model, targetModel] = [byName.get(holder), byName.get(target)];
    if (model === undefined || targetModel === undefined) return;
    const isOptional = fields.some(
      (field) => absentValue(model.schema.shape[field]!) !== undefined,
    );
    const references = found.get(holder) ?? new Map<string, Reference>();
    const targetKey = targetModel.primaryKey;
    references.set(fields.join(), { fields, target, targetKey, isOptional });
    found.set(holder, references);
  };
  for (const { name, relations } of models) {
    for (const relation of Object.values(relations)) {
      if (relation.kind === "belongsTo") add(name, relation.fields, relation.model);
      else if (relation.kind !== "manyToMany") add(relation.model, relation.fields, name);
      else {
        add(relation.through, relation.from, name);
        add(relation.through, relation.to, relation.model);
      }
    }
  }
  return new Map([...found].map(([name, references]) => [name, [...references.values()]]));
}
