import { migrationStatus } from "@keywright/orm";
import { type CompiledIndex, modelManifest } from "@keywright/orm/codegen";
import type { OpenDatabase, OpenModel } from "../source/open-database.js";

/** A model in few words, for a list of many. */
export function summarizeModel({ property, model }: OpenModel): object {
  const { fields } = modelManifest(model).row;
  return {
    model: property,
    primaryKey: model.primaryKey,
    fields: Object.entries(fields).map(([name, { optional }]) => (optional ? `${name}?` : name)),
    indexes: declaredIndexes(model.indexes).map(indexText),
    relations: Object.entries(model.relations).map(([name, { kind }]) => `${name} (${kind})`),
  };
}

/** A model with the JSON Schema of each field, and what the database has of each index. */
export async function describeModel(
  { database }: OpenDatabase,
  { property, model }: OpenModel,
): Promise<object> {
  const { row, indexes, relations, counters } = modelManifest(model);
  const { models } = await migrationStatus(database);
  const status = models.find((each) => each.model === model.name);
  return {
    model: property,
    name: model.name,
    primaryKey: model.primaryKey,
    fields: row.fields,
    indexes: Object.fromEntries(
      declaredIndexes(model.indexes).map(({ name }) => {
        const { fields, unique, normalized, traits } = indexes[name]!;
        const state = status?.indexes[name]?.state ?? "absent";
        return [name, { fields, unique, normalized, ...traits, state }];
      }),
    ),
    relations,
    counters,
    softDelete: model.softDelete,
  };
}

function declaredIndexes(indexes: readonly CompiledIndex[]): readonly CompiledIndex[] {
  return indexes.filter(({ isHidden, text }) => !isHidden || text !== undefined);
}

function indexText({ name, fields, unique, each, text, condition, where }: CompiledIndex): string {
  const traits = [
    ...(unique ? ["unique"] : []),
    ...(each === undefined ? [] : [`each element of ${fields[each]}`]),
    ...(text === undefined ? [] : ["full text"]),
    ...(condition === undefined && where === undefined ? [] : ["only some rows"]),
  ];
  return `${name}: ${fields.join(", ")}${traits.length === 0 ? "" : ` (${traits.join(", ")})`}`;
}
