import { ModelDefinitionError } from "@keywright/orm";
import { linkRelations } from "@keywright/orm/codegen";
import { RelationInvalidError } from "../../errors/codegen-errors.js";
import { describeOrigin, type FoundModel } from "./found-model.js";

/** Checks that each relation leads to one of the models through an index. */
export function assertLinked(models: readonly FoundModel[]): void {
  try {
    linkRelations(models.map(({ model }) => model));
  } catch (error) {
    if (!(error instanceof ModelDefinitionError)) throw error;
    const { model, at, reason } = error;
    const found = models.find((candidate) => candidate.model.name === model);
    const advice = isTargetMissing(found, at, models)
      ? "; `models` of the configuration must include all models that relations name"
      : "";
    throw new RelationInvalidError({
      model,
      at,
      reason: reason + advice,
      origin: found && describeOrigin(found),
    });
  }
}

/** True if the relation at `relations.posts` names a model that is not one of the project. */
function isTargetMissing(
  found: FoundModel | undefined,
  at: string,
  models: readonly FoundModel[],
): boolean {
  const relation = found?.model.relations?.[at.replace("relations.", "")];
  if (relation === undefined) return false;
  const targets = [relation.model, ...(relation.kind === "manyToMany" ? [relation.through] : [])];
  return targets.some((target) => models.every(({ model }) => model.name !== target));
}
