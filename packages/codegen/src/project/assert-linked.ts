import { ModelDefinitionError } from "@keywright/orm";
import { linkRelations } from "@keywright/orm/codegen";
import { RelationInvalidError } from "../errors/codegen-errors.js";
import { describeOrigin, type FoundModel } from "./found-model.js";

/** Checks that each relation leads to one of the models through an index. */
export function assertLinked(models: readonly FoundModel[]): void {
  try {
    linkRelations(models.map(({ model }) => model));
  } catch (error) {
    if (!(error instanceof ModelDefinitionError)) throw error;
    const { model, at, reason } = error;
    const found = models.find((candidate) => candidate.model.name === model);
    throw new RelationInvalidError(model, at, reason, found && describeOrigin(found));
  }
}
