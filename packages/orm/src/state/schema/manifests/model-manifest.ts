import type { CompiledModel } from "../../../model/compiled-model.js";
import type {
  BelongsTo,
  CopiedFields,
  Relation,
} from "../../../model/relations/relation-definition.js";
import { hashOf } from "./hash.js";
import { indexManifest } from "./index-manifest.js";
import type { IndexManifest, ModelManifest, RelationManifest, SchemaManifest } from "./manifest.js";
import { rowManifest } from "./row-manifest.js";

export function modelManifest(model: CompiledModel): ModelManifest {
  const described = {
    name: model.name,
    prefix: model.prefix,
    row: rowManifest(model.schema, model.primaryKey),
    indexes: byName(model.indexes.map((index) => [index.name, ofAnyBuild(indexManifest(index))])),
    counters: model.counters.map(({ name }) => name).sort(),
    relations: byName(
      Object.entries(model.relations).map(([name, one]) => [name, relationManifest(one)]),
    ),
    live: model.live,
  };
  const { name, prefix, ...rest } = described;
  return { name, prefix, hash: hashOf(described), ...rest };
}

/** Leaves out the hash of functions, which depends on the build, if their code is there. */
function ofAnyBuild({ functions, ...manifest }: IndexManifest): IndexManifest {
  const isNeeded = functions !== undefined && manifest.code === undefined;
  return isNeeded ? { ...manifest, functions } : manifest;
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
      .map(({ fields, copy }) => copyingText(other, copy, fields)),
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

/** A field of a row, and the field that it copies of the row to which a relation leads. */
export interface CopyText {
  readonly fields: readonly string[];
  readonly model: string;
  readonly field: string;
  readonly from: string;
  /** Identifies the copy in a catalog entry. */
  readonly text: string;
}

/**
 * Returns the copied fields that some rows may lack: the database does not know them yet, or they
 * are being filled.
 */
export function unfilledCopies(
  relations: readonly string[],
  stored: { readonly relations?: readonly string[]; readonly unfilled?: readonly string[] },
): CopyText[] {
  const known = new Set(copiesIn(stored.relations ?? []).map(({ text }) => text));
  const unfilled = new Set(stored.unfilled);
  return copiesIn(relations).filter(({ text }) => !known.has(text) || unfilled.has(text));
}

function copiesIn(relations: readonly string[]): CopyText[] {
  return relations.flatMap((relation) => {
    const { fields = [], model = "", copy = {} } = parseRelationText(relation) ?? {};
    return Object.entries(copy).map(([field, from]) => {
      return { fields, model, field, from, text: JSON.stringify([fields, model, field, from]) };
    });
  });
}

/**
 * Returns the copied fields that may be outdated. The catalog entry of the model from which they
 * are copied does not name them, so programs without these relations do not update them.
 *
 * @param storedOf the relations in the catalog entry of a model.
 */
export function unguardedCopies(
  model: CompiledModel,
  models: readonly CompiledModel[],
  storedOf: (target: string) => readonly string[],
): CopyText[] {
  const unguarded = referencesOf(model).filter(({ model: target, copy, fields }) => {
    return hasCopies(copy) && !storedOf(target).includes(copyingText(model, copy, fields));
  });
  const prefixOf = (name: string) => models.find((one) => one.name === name)?.prefix ?? name;
  return copiesIn(
    unguarded.map((relation) => relationText({ ...relation, model: prefixOf(relation.model) })),
  );
}

function copyingText(
  { prefix }: CompiledModel,
  copy: CopiedFields,
  fields: readonly string[],
): string {
  return `${JSON.stringify(prefix)} copies ${copyText(copy)} by ${JSON.stringify(fields)}`;
}

/** Returns the prefix of the model whose rows copy fields, and the fields of their reference. */
export function parseCopyingText(text: string): string | undefined {
  const [, prefix, fields] = /^(".*") copies \{.*\} by (\[.*\])$/.exec(text) ?? [];
  if (prefix === undefined || fields === undefined) return undefined;
  return `${JSON.parse(prefix)} by ${(JSON.parse(fields) as string[]).join(",")}`;
}
