import type { CompiledModel } from "../model/compiled-model.js";
import type { BelongsTo, CopiedFields, Relation } from "../model/relation-definition.js";
import { hashOf } from "./hash.js";
import { indexManifest } from "./index-manifest.js";
import type { ModelManifest, RelationManifest, SchemaManifest } from "./manifest.js";
import { rowManifest } from "./row-manifest.js";

export function modelManifest(model: CompiledModel): ModelManifest {
  const described = {
    name: model.name,
    prefix: model.prefix,
    row: rowManifest(model.schema, model.primaryKey),
    indexes: byName(model.indexes.map((index) => [index.name, indexManifest(index)])),
    counters: model.counters.map(({ name }) => name).sort(),
    relations: byName(
      Object.entries(model.relations).map(([name, one]) => [name, relationManifest(one)]),
    ),
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

function relationManifest(relation: Relation): RelationManifest {
  if (relation.kind !== "belongsTo") return { ...relation };
  const { copy, ...rest } = relation;
  return hasCopies(copy) ? { ...rest, copy } : rest;
}

/**
 * Returns the `belongsTo` relations of a model as sorted texts without duplicates, and those of
 * other models that copy its fields. The texts contain everything that matters to writers.
 *
 * @param models all models of the database. A relation refers to the rows under a prefix, whatever
 * the name of their model is.
 */
export function relationTexts(
  model: CompiledModel,
  models: readonly CompiledModel[] = [model],
): string[] {
  const prefixOf = (name: string) => models.find((one) => one.name === name)?.prefix ?? name;
  const own = referencesOf(model).map((relation) =>
    relationText({ ...relation, model: prefixOf(relation.model) }),
  );
  const copying = models.flatMap((other) =>
    referencesOf(other)
      .filter(({ model: target, copy }) => target === model.name && hasCopies(copy))
      .map(({ fields, copy }) => {
        return `${JSON.stringify(other.prefix)} copies ${copyText(copy)} by ${JSON.stringify(fields)}`;
      }),
  );
  return [...new Set([...own, ...copying])].sort();
}

function referencesOf({ relations }: CompiledModel): BelongsTo[] {
  const all: readonly Relation[] = Object.values(relations);
  return all.filter((relation) => relation.kind === "belongsTo");
}

function hasCopies(copy: CopiedFields): boolean {
  return Object.keys(copy).length > 0;
}

function copyText(copy: CopiedFields): string {
  return JSON.stringify(byName(Object.entries(copy)));
}

interface BelongsToParts {
  readonly fields: readonly string[];
  readonly model: string;
  readonly onDelete: string;
  readonly copy: CopiedFields;
}

function relationText({ fields, model, onDelete, copy }: BelongsToParts): string {
  const text = `${JSON.stringify(fields)} → ${JSON.stringify(model)}, onDelete: ${onDelete}`;
  return hasCopies(copy) ? `${text}, copy: ${copyText(copy)}` : text;
}

/** Returns undefined for the text of a relation of another model. */
export function parseRelationText(text: string): BelongsToParts | undefined {
  const pattern = /^(\[.*\]) → (".*"), onDelete: (\w+)(?:, copy: (.*))?$/;
  const [, fields, model, onDelete, copy = "{}"] = pattern.exec(text) ?? [];
  if (fields === undefined || model === undefined || onDelete === undefined) return undefined;
  return {
    fields: JSON.parse(fields) as string[],
    model: JSON.parse(model) as string,
    onDelete,
    copy: JSON.parse(copy) as CopiedFields,
  };
}

/** Returns those of some relations whose copies a database does not have for all of its rows. */
export function unfilledCopies(
  relations: readonly string[],
  stored: { readonly relations?: readonly string[]; readonly unfilled?: readonly string[] },
): string[] {
  return relations.filter((text) => {
    if (!hasCopies(parseRelationText(text)?.copy ?? {})) return false;
    return !stored.relations?.includes(text) || stored.unfilled?.includes(text);
  });
}
