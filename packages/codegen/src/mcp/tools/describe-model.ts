import { migrationStatus } from "@keywright/orm";
import { type CompiledIndex, modelManifest } from "@keywright/orm/codegen";
import { maxAnswerLength } from "../answer/answer.js";
import { lengthOf } from "../answer/bounded.js";
import type { OpenDatabase, OpenModel } from "../source/open-database.js";

/** The part of an answer that models have if there are more, whose names need the rest. */
const listLength = maxAnswerLength * 0.7;

/** Lists models in few words. Of those that do not fit into an answer, lists the names. */
export function listModels(models: readonly OpenModel[]): object {
  const listed: object[] = [];
  let length = 0;
  for (const model of models) {
    const summary = summaryOf(model);
    length += lengthOf(summary) + 1;
    if (length > listLength) break;
    listed.push(summary);
  }
  const others = models.slice(listed.length).map(({ property }) => property);
  return { models: listed, ...(others.length > 0 && { others }) };
}

function summaryOf({ property, model }: OpenModel): object {
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
    ...(text === undefined ? [] : [["full text", ...fields].join(" by ")]),
    ...(condition === undefined && where === undefined ? [] : ["only some rows"]),
  ];
  const words = text?.fields.map(({ field }) => field) ?? fields;
  return `${name}: ${words.join(", ")}${traits.length === 0 ? "" : ` (${traits.join(", ")})`}`;
}
