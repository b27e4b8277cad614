import type { Kv } from "@keywright/core";
import { type AnyDatabase, type MigrationStatus, migrationStatus } from "@keywright/orm";
import { type CompiledIndex, modelManifest, type RowManifest } from "@keywright/orm/codegen";
import type {
  FieldInfo,
  IndexInfo,
  ModelInfo,
  RelationInfo,
  StudioInfo,
} from "../protocol/studio-info.js";
import { fieldKind } from "../source/field-kind.js";
import { knownDamage } from "../source/known-damage.js";
import { propertyOf, type Source, type SourceModel } from "../source/source.js";

/** Describes the database and its models for the page. */
export async function studioInfo(source: Source): Promise<StudioInfo> {
  const { title, isReadOnly, database, watchRange, models } = source;
  const damage = await knownDamage(source);
  const status = await statusOf(database, damage !== null);
  return {
    title,
    isReadOnly,
    isLive: watchRange !== undefined,
    hasLog: await hasLog(source),
    models: models.map((each) => {
      const states = status?.models.find(({ model }) => model === each.model.name)?.indexes;
      const stateOf = (index: string) => states?.[index]?.state ?? "absent";
      return modelInfo(source, each, status === undefined ? () => "unknown" : stateOf);
    }),
    damage,
  };
}

const firstVersionstamp = "0".repeat(20);

/** False also if damage hides it. */
async function hasLog({ kv }: Source): Promise<boolean> {
  const { commitAt } = kv as Kv;
  if (commitAt === undefined) return false;
  return await commitAt.call(kv, firstVersionstamp).then(
    () => true,
    () => false,
  );
}

/** Returns undefined if there are no models, or if damage hides their states. */
async function statusOf(
  database: AnyDatabase | undefined,
  isDamaged: boolean,
): Promise<MigrationStatus | undefined> {
  if (database === undefined) return undefined;
  return await migrationStatus(database).catch((error: unknown) => {
    if (!isDamaged) throw error;
    return undefined;
  });
}

function modelInfo(
  source: Source,
  { property, model }: SourceModel,
  stateOf: (index: string) => string,
): ModelInfo {
  const { name, prefix, primaryKey, softDelete = null } = model;
  const { row } = modelManifest(model);
  // No list uses a full-text index, but the model declares it.
  const declared = model.indexes.filter(({ isHidden, text }) => !isHidden || text !== undefined);
  const fields = fieldsOf(model, row);
  return {
    property,
    name,
    prefix,
    primaryKey,
    fields,
    indexes: declared.map((index) => indexInfo(index, stateOf(index.name))),
    relations: Object.entries(model.relations).map(([relation, definition]): RelationInfo => {
      const { kind } = definition;
      return {
        name: relation,
        kind,
        target: propertyOf(source, definition.model),
        fields: kind === "manyToMany" ? [] : definition.fields,
        through:
          kind === "manyToMany"
            ? {
                model: propertyOf(source, definition.through),
                from: definition.from,
                to: definition.to,
              }
            : null,
        onDelete: kind === "belongsTo" ? definition.onDelete : null,
      };
    }),
    softDelete,
    titleField: titleField(model, fields),
  };
}

/** The usual names of a field that tells people which row it is, the best one first. */
const titleNames = ["name", "title", "fullName", "displayName", "label", "email", "slug"];

/** Returns the field with a usual name, or the first text that is neither a key nor a reference. */
function titleField(model: SourceModel["model"], fields: readonly FieldInfo[]): string | null {
  const references = Object.values(model.relations).flatMap((relation) =>
    relation.kind === "belongsTo" ? relation.fields : [],
  );
  const texts = fields
    .filter(({ kind }) => kind === "string")
    .map(({ name }) => name)
    .filter((name) => !model.primaryKey.includes(name) && !references.includes(name));
  return titleNames.find((name) => texts.includes(name)) ?? texts[0] ?? null;
}

function fieldsOf(model: SourceModel["model"], { fields }: RowManifest): FieldInfo[] {
  const { schema, copied, generatesId, primaryKey, timestamps } = model;
  const isFilledIn = (name: string) =>
    (generatesId && primaryKey[0] === name) ||
    (timestamps !== undefined && (name === "createdAt" || name === "updatedAt"));
  return Object.entries(schema.shape).map(([name, field]) => {
    const source = copied.get(name);
    const { optional = false, defaulted = false } = fields[name] ?? {};
    const { description } = field as { readonly description?: unknown };
    return {
      name,
      ...fieldKind(field),
      isOptional: optional,
      hasDefault: defaulted || isFilledIn(name),
      copied: source === undefined ? null : `${source.relation}.${source.from}`,
      description: typeof description === "string" ? description : null,
    };
  });
}

function indexInfo(index: CompiledIndex, state: string): IndexInfo {
  const { name, parts, unique, each, where, condition, unmarked, counted, text } = index;
  return {
    name,
    fields: parts.map(({ field, descending }) => ({ name: field, isDescending: descending })),
    isUnique: unique,
    each: each === undefined ? null : parts[each]!.field,
    condition: conditionText(condition, where !== undefined && condition === undefined, unmarked),
    where: condition ?? null,
    // A function of the row selects rows or makes keys. No value of a field stands for it.
    isQueryable: text === undefined && parts.every(({ compute }) => compute === undefined),
    text: text?.fields.map(({ field }) => field) ?? null,
    isCounted: counted,
    state,
  };
}

function conditionText(
  condition: CompiledIndex["condition"],
  isFunction: boolean,
  unmarked: string | undefined,
): string | null {
  const texts = Object.entries(condition ?? {}).map(([field, value]) =>
    value === null ? `${field} is absent` : `${field} is ${String(value)}`,
  );
  if (isFunction) texts.push("a function selects the rows");
  if (unmarked !== undefined) texts.push(`${unmarked} is absent`);
  return texts.length === 0 ? null : [...new Set(texts)].join(" and ");
}
