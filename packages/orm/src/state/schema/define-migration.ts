import type * as z from "zod";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import {
  PrimaryKeyChangeError,
  RowInvalidError,
  StoredRowInvalidError,
} from "../../errors/row-errors.js";
import { assertFields, assertOptions } from "../../model/assert-definition.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { isModel } from "../../model/define-model.js";
import { synchronousOutputSchema } from "../../model/fields/output-schema.js";
import { ignoreRejection, isPromise } from "../../model/keys/is-promise.js";
import { keyPartOf } from "../../model/keys/key-parts.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import type { Model, PrimaryKeyField } from "../../model/model.js";
import { isSameData } from "../../model/rows/is-same-data.js";
import { assertArgument, functionOf, is } from "../../model/shape.js";
import type { RowManifest } from "./manifests/manifest.js";
import { otherFields, rowManifest } from "./manifests/row-manifest.js";
import { compareRows, keepsPrimaryKey } from "./upgrade/compare-rows.js";
import { fillDefaults } from "./upgrade/fill-defaults.js";

/** Changes rows of one schema into rows of another. Created by `defineMigration`. */
export interface RowMigration {
  readonly name: string;
  /** The `name` of the model. */
  readonly model: string;
  readonly from: RowManifest;
  readonly to: RowManifest;
  /** Returns the new row. Throws if the row cannot be changed. */
  readonly up: (row: AnyRow) => AnyRow;
  readonly down: ((row: AnyRow) => AnyRow) | undefined;
  /** The fields that it may change. The default is all fields whose schemas differ. */
  readonly changes?: readonly string[];
  /**
   * Fills absent `fields` of a row with the defaults of `from`, so that a row of an earlier schema
   * becomes a row of `from`.
   */
  readonly fillDefaults?: (row: AnyRow, fields: readonly string[]) => AnyRow;
}

/** The argument of `defineMigration`. */
export interface MigrationDefinition<
  M extends Model,
  From extends z.ZodObject,
  To extends z.ZodObject,
> {
  /**
   * The model whose rows are changed. Only its name and its primary key count, so it may have
   * changed since.
   */
  readonly model: M;
  /**
   * The name in plans and reports. The default is the model's name and the first digits of two
   * hashes.
   */
  readonly name?: string;
  /**
   * The schema of the rows before the migration, written out. Not the current schema of the model.
   */
  readonly from: From;
  /** The schema of the rows after the migration. */
  readonly to: To;
  /**
   * Fields that `up` changes although their schemas are the same. Their index entries change too.
   */
  readonly changes?: readonly Exclude<
    keyof z.output<From> & keyof z.output<To> & string,
    PrimaryKeyField<M>
  >[];
  /**
   * Returns the row of `to` for a row of `from`. Must be pure: it returns the same result for the
   * same row, and reads and writes nothing else.
   */
  readonly up: (row: z.output<From>) => MadeRow<To>;
  /** Returns the row of `from` for a row of `to`. Without it, rows cannot go back. */
  readonly down?: (row: z.output<To>) => MadeRow<From>;
}

/** A row as a migration returns it. Fields that have defaults may be absent. */
export type MadeRow<S extends z.ZodObject> = Omitted<z.output<S>, DefaultedField<S>> &
  Optional<z.output<S>, DefaultedField<S>>;

/**
 * The fields that are optional in the input of a schema and required in its output:
 * `{ a: string; b: default 1 }` → `"b"`.
 */
type DefaultedField<S extends z.ZodObject> = Exclude<
  OptionalField<z.input<S>> & keyof z.output<S>,
  OptionalField<z.output<S>>
>;

/** `{ a: string; b?: number; [other: string]: unknown }` → `"b"`. */
type OptionalField<T> = keyof {
  [K in keyof T as string extends K ? never : T extends Record<K, T[K]> ? never : K]: never;
};

/**
 * `Omit` that keeps the modifiers of the other fields:
 * `{ a?: string; b: number }` without `"b"` → `{ a?: string }`.
 */
type Omitted<T, F> = { [K in keyof T as K extends F ? never : K]: T[K] };

/**
 * `Pick` that makes the fields optional:
 * `"b"` of `{ a: string; b: number }` → `{ b?: number | undefined }`.
 */
type Optional<T, F> = { [K in keyof T as K extends F ? K : never]?: T[K] | undefined };

const options = ["model", "name", "from", "to", "changes", "up", "down"];

/**
 * Describes how rows of one schema become rows of another, if the schemas alone do not show it: a
 * field is renamed, split, or gets another type.
 *
 * ```ts
 * const fullNames = defineMigration({
 *   model: User,
 *   from: z.object({ id: z.ulid(), first: z.string(), last: z.string() }),
 *   to: z.object({ id: z.ulid(), name: z.string() }),
 *   up: ({ first, last, ...user }) => ({ ...user, name: `${first} ${last}` }),
 * });
 * ```
 *
 * `up` gets a copy of the row, after `from` has validated it. Absent fields of its result that have
 * defaults are filled in, and the result is validated by `to`. A row that does not fit is not
 * written. Fields that neither schema knows keep their values, unless `to` is strict: then they are
 * removed. `up` may run more than once for the same row: when the row is read and when it is
 * written.
 *
 * Fields whose schemas are the same must keep their values, except the fields of `changes`. The
 * primary key never changes.
 *
 * The functions of the result throw `StoredRowInvalidError` if the stored row does not fit `from`,
 * `RowInvalidError` if the new row does not fit `to`,
 * `PrimaryKeyChangeError` if its primary key differs, and `InvalidArgumentError` if `up` or `down`
 * returns a promise, does not return an object, or changes a field that must keep its value.
 *
 * @throws {ModelDefinitionError} if an option is unknown, or `changes` names a field twice or one
 * that `to` does not have.
 * @throws {InvalidArgumentError} if another option is not valid. For example, a schema lacks the
 * primary key or changes its type, both schemas describe the same rows, or a function is
 * asynchronous.
 */
export function defineMigration<M extends Model, From extends z.ZodObject, To extends z.ZodObject>(
  definition: MigrationDefinition<M, From, To>,
): RowMigration {
  const { model, from, to, up, down, changes = [] } = definition;
  assertArgument("", "model", model, definedModel, "defineMigration");
  const modelName = model.name;
  assertOptions(modelName, "", definition, options);
  const primaryKey = typeof model.primaryKey === "string" ? [model.primaryKey] : model.primaryKey;
  assertSchema(modelName, "from", from, primaryKey);
  assertSchema(modelName, "to", to, primaryKey);
  assertFunction(modelName, "up", up);
  if (down !== undefined) assertFunction(modelName, "down", down);
  assertFields({ ...model, schema: to }, "changes", changes);
  if (primaryKey.some((field) => (changes as readonly string[]).includes(field)))
    throw new InvalidArgumentError(
      modelName,
      "changes",
      "a migration cannot change the primary key",
    );
  const [before, after] = [rowManifest(from, primaryKey), rowManifest(to, primaryKey)];
  if (before.hash === after.hash) {
    const reason =
      "it describes the same rows as from, so changed rows could not be told from others; add an optional field, or change the rows with updateMany";
    throw new InvalidArgumentError(modelName, "to", reason);
  }
  if (!keepsPrimaryKey(before, after))
    throw new InvalidArgumentError(modelName, "to", "a migration cannot change the primary key");
  const changed = compareRows(before, after).map(({ field }) => field);
  const sideOf = (schema: z.ZodObject, manifest: RowManifest): Side => ({ schema, manifest });
  const [old, now] = [sideOf(from, before), sideOf(to, after)];
  const rest = { model: modelName, primaryKey, changes: [...new Set([...changed, ...changes])] };
  const name =
    definition.name ?? `${modelName}: ${before.hash.slice(0, 4)}… → ${after.hash.slice(0, 4)}…`;
  return Object.freeze({
    name,
    model: modelName,
    from: before,
    to: after,
    up: withChecks({ ...rest, at: "up", from: old, to: now, change: up as Change }),
    down: down && withChecks({ ...rest, at: "down", from: now, to: old, change: down as Change }),
    changes: rest.changes,
    fillDefaults: (row: AnyRow, fields: readonly string[]) =>
      fillDefaults(modelName, from, row, fields),
  });
}

const synchronous = "it must be synchronous and use the row alone";

type Change = (row: AnyRow) => unknown;

interface Side {
  readonly schema: z.ZodObject;
  readonly manifest: RowManifest;
}

interface ChangeSettings {
  readonly model: string;
  readonly primaryKey: readonly string[];
  readonly at: "up" | "down";
  readonly from: Side;
  readonly to: Side;
  readonly changes: readonly string[];
  readonly change: Change;
}

/** Wraps the user's function. The function gets a copy of the row, and its result is validated. */
function withChecks(settings: ChangeSettings): (row: AnyRow) => AnyRow {
  const { model, primaryKey, at, from, to, changes, change } = settings;
  const schema = synchronousOutputSchema(to.schema);
  const isLoose = Object.hasOwn(from.manifest.fields, otherFields);
  const knows = (field: string) => isLoose || Object.hasOwn(from.manifest.fields, field);
  const isStrict = to.schema._zod.def.catchall?._zod.def.type === "never";
  const isUnknown = (field: string) =>
    !isStrict && !knows(field) && !Object.hasOwn(to.manifest.fields, field);
  const validate = validatorOf(model, from, primaryKey);
  const defaulted = defaultedFields(to);
  const kept = Object.keys(to.schema.shape).filter(
    (field) =>
      primaryKey.includes(field) ||
      (Object.hasOwn(from.schema.shape, field) && !changes.includes(field)),
  );
  return (stored) => {
    const row = validate(stored, knows);
    const returned = change(structuredClone(pick(row, knows)));
    if (isPromise(returned)) {
      ignoreRejection(returned);
      throw new InvalidArgumentError(model, at, `it returned a promise; ${synchronous}`);
    }
    if (typeof returned !== "object" || returned === null || Array.isArray(returned)) {
      throw new InvalidArgumentError(model, at, "it must return a row");
    }
    for (const field of kept) {
      if (isSameData((returned as AnyRow)[field], row[field])) continue;
      if (primaryKey.includes(field)) throw new PrimaryKeyChangeError(model, field);
      const reason = `it changes ${JSON.stringify(field)}, whose schema stays the same; name the field in changes, so that its index entries change too`;
      throw new InvalidArgumentError(model, at, reason);
    }
    const filled = fillDefaults(model, to.schema, returned as AnyRow, defaulted);
    const result = schema.safeParse(filled);
    if (!result.success)
      throw new RowInvalidError(model, { error: result.error, schema: to.schema });
    // Validation may change values, for example by `trim`. Fields that must not change get the
    // values of the old row.
    return { ...pick(row, isUnknown), ...(result.data as AnyRow), ...pick(row, isKept) };
  };
  function isKept(field: string): boolean {
    return kept.includes(field);
  }
}

/**
 * Returns a function that validates a stored row before it is changed, and fills in its defaults.
 * Fields that the schema does not know are not validated.
 */
function validatorOf(
  model: string,
  side: Side,
  primaryKey: readonly string[],
): (row: AnyRow, knows: (field: string) => boolean) => AnyRow {
  const schema = synchronousOutputSchema(side.schema);
  const defaulted = defaultedFields(side);
  return (row, knows) => {
    const filled = fillDefaults(model, side.schema, row, defaulted);
    const { error } = schema.safeParse(pick(filled, knows));
    if (error === undefined) return filled;
    const id = pointerOf(primaryKey.map((field) => keyPartOf(row[field]) ?? ""));
    throw new StoredRowInvalidError(model, id, { error, schema: side.schema });
  };
}

function defaultedFields({ manifest: { fields } }: Side): string[] {
  return Object.keys(fields).filter((field) => fields[field]?.defaulted && !fields[field].optional);
}

function pick(row: AnyRow, isPicked: (field: string) => boolean): AnyRow {
  return Object.fromEntries(Object.entries(row).filter(([field]) => isPicked(field)));
}

const definedModel = is<Model>(isModel, "a model that defineModel returned");

function assertFunction(model: string, argument: string, value: unknown): void {
  assertArgument(model, argument, value, functionOf());
  if (value.constructor.name !== "AsyncFunction") return;
  throw new InvalidArgumentError(model, argument, synchronous);
}

function assertSchema(
  model: string,
  argument: string,
  schema: z.ZodObject,
  primaryKey: readonly string[],
): void {
  const shape = (schema as Partial<z.ZodObject> | undefined)?.shape;
  if (typeof shape !== "object")
    throw new InvalidArgumentError(model, argument, "it must be a z.object");
  for (const field of primaryKey) {
    if (Object.hasOwn(shape, field)) continue;
    const reason = `it must have the field ${JSON.stringify(field)} of the primary key`;
    throw new InvalidArgumentError(model, argument, reason);
  }
}
