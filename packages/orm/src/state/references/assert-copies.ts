import { ModelDefinitionError } from "../../errors/schema-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { isWider } from "../schema/json/is-wider.js";
import { valueSchema } from "../schema/json/value-schema.js";
import { rowManifest } from "../schema/manifests/row-manifest.js";

/**
 * Checks the fields that the models of a database copy from each other.
 *
 * @throws {ModelDefinitionError} if a copied field does not exist, if the copy could not hold its
 * values, or if a field would copy itself through others.
 */
export function assertCopies(models: readonly CompiledModel[]): void {
  const byName = new Map(models.map((model) => [model.name, model]));
  for (const model of models) {
    for (const [field, { relation, from }] of model.copied) {
      const source = byName.get(model.relations[relation]!.model)!;
      const fail = (reason: string): never => {
        throw new ModelDefinitionError(model.name, `relations.${relation}.copy.${field}`, reason);
      };
      if (!Object.hasOwn(source.schema.shape, from))
        fail(`the model ${source.name} has no field ${JSON.stringify(from)}`);
      assertHoldsValues(model, field, source, from, fail);
      if (copiesItself(byName, model, field)) fail("it would copy itself through other fields");
    }
  }
}

function assertHoldsValues(
  model: CompiledModel,
  field: string,
  source: CompiledModel,
  from: string,
  fail: (reason: string) => never,
): void {
  const copy = rowManifest(model.schema, model.primaryKey).fields[field]!;
  const copied = rowManifest(source.schema, source.primaryKey).fields[from]!;
  const isFitting =
    isWider(valueSchema(copied.schema), valueSchema(copy.schema)) &&
    (copy.optional || !copied.optional);
  if (isFitting) return;
  fail(`the field cannot hold all values of ${source.name}.${from}; give both the same schema`);
}

/** Follows a field to the fields that it copies, each of which copies at most one other. */
function copiesItself(
  models: ReadonlyMap<string, CompiledModel>,
  model: CompiledModel,
  field: string,
): boolean {
  const seen = new Set<string>();
  let owner = model;
  let name = field;
  for (;;) {
    const id = JSON.stringify([owner.name, name]);
    if (seen.has(id)) return true;
    seen.add(id);
    const copied = owner.copied.get(name);
    if (copied === undefined) return false;
    owner = models.get(owner.relations[copied.relation]!.model)!;
    name = copied.from;
  }
}
