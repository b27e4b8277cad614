import type { CompiledModel } from "../model/compiled-model.js";
import type { Relation } from "../model/relation-definition.js";
import { hashOf } from "./hash.js";
import { indexManifest } from "./index-manifest.js";
import type { ModelManifest, SchemaManifest } from "./manifest.js";
import { rowManifest } from "./row-manifest.js";

export function modelManifest(model: CompiledModel): ModelManifest {
  const described = {
    name: model.name,
    prefix: model.prefix,
    row: rowManifest(model.schema, model.primaryKey),
    indexes: byName(model.indexes.map((index) => [index.name, indexManifest(index)])),
    counters: model.counters.map(({ name }) => name).sort(),
    relations: byName(Object.entries(model.relations).map(([name, one]) => [name, { ...one }])),
    live: model.live,
  };
  const { name, prefix, ...rest } = described;
  return { name, prefix, hash: hashOf(described), ...rest };
}

export function schemaManifest(models: Iterable<CompiledModel>): SchemaManifest {
  return { format: 1, models: byName([...models].map((one) => [one.name, modelManifest(one)])) };
}

function byName<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the `belongsTo` relations of a model as sorted texts without duplicates. Each text
 * contains everything about a relation that matters to writers.
 *
 * @param prefixes the prefixes of models, by name. A relation refers to the rows under a prefix,
 * whatever the name of their model is.
 */
export function relationTexts(
  model: CompiledModel,
  prefixes: ReadonlyMap<string, string> = new Map(),
): string[] {
  const relations: readonly Relation[] = Object.values(model.relations);
  return relations
    .flatMap((relation) => {
      if (relation.kind !== "belongsTo") return [];
      const target = prefixes.get(relation.model) ?? relation.model;
      return relationText({ ...relation, model: target });
    })
    .filter((text, position, all) => all.indexOf(text) === position)
    .sort();
}

interface BelongsToParts {
  readonly fields: readonly string[];
  readonly model: string;
  readonly onDelete: string;
}

function relationText({ fields, model, onDelete }: BelongsToParts): string {
  return `${JSON.stringify(fields)} → ${JSON.stringify(model)}, onDelete: ${onDelete}`;
}

export function parseRelationText(text: string): BelongsToParts | undefined {
  const [, fields, model, onDelete] = /^(\[.*\]) → (".*"), onDelete: (\w+)$/.exec(text) ?? [];
  if (fields === undefined || model === undefined || onDelete === undefined) return undefined;
  return {
    fields: JSON.parse(fields) as string[],
    model: JSON.parse(model) as string,
    onDelete,
  };
}
