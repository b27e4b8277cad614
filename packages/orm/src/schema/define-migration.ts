import { isDeepStrictEqual } from "node:util";
import type * as z from "zod";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { PrimaryKeyChangeError, RowInvalidError } from "../errors/row-errors.js";
import { assertFields, assertOptions } from "../model/compile-index.js";
import type { AnyRow } from "../model/compiled-model.js";
import { isModel } from "../model/define-model.js";
import type { Model, PrimaryKeyField } from "../model/model.js";
import { synchronousOutputSchema } from "../model/output-schema.js";
import { rowIssues } from "../model/stored-row.js";
import { compareRows, keepsPrimaryKey } from "./compare-rows.js";
import { fillDefaults } from "./fill-defaults.js";
import type { RowManifest } from "./manifest.js";
import { otherFields, rowManifest } from "./row-manifest.js";

/** How rows of one schema become rows of another. Made by `defineMigration`. */
export interface RowMigration {
  readonly name: string;
  /** The model's own name. */
  readonly model: string;
  readonly from: RowManifest;
  readonly to: RowManifest;
  /** Makes a new row; throws where it cannot. */
  readonly up: (row: AnyRow) => AnyRow;
  readonly down: ((row: AnyRow) => AnyRow) | undefined;
  /** The fields that it may change; without it, those whose descriptions differ. */
  readonly changes?: readonly string[];
  /** Fills in what rows of schemas before lack of those that it takes, where these have defaults. */
  readonly complete?: (row: AnyRow, fields: readonly string[]) => AnyRow;
}

/** What `defineMigration` takes. */
export interface MigrationDefinition<
  M extends Model,
  From extends z.ZodObject,
  To extends z.ZodObject,
> {
  /** Whose rows are changed. It may have changed since: of it count the name and the primary key. */
  readonly model: M;
  /** What plans and reports call it; without it, the model's name and the beginnings of two hashes. */
  readonly name?: string;
  /** The schema of the rows before: as it was, not as the model has it now. */
  readonly from: From;
  /** The schema of the rows after. */
  readonly to: To;
  /** Fields that `up` changes although their schemas are the same, so that their indexes are built anew. */
  readonly changes?: readonly Exclude<
    keyof z.output<From> & keyof z.output<To> & string,
    PrimaryKeyField<M>
  >[];
  /** Makes a row of `to` of one of `from`. It is pure: the same row gives the same, and nothing else is read or written. */
  readonly up: (row: z.output<From>) => MadeRow<To>;
  /** The way back. */
  readonly down?: (row: z.output<To>) => MadeRow<From>;
}

/** A row of a schema as a migration makes it: fields that have defaults may be absent. */
export type MadeRow<S extends z.ZodObject> = Omitted<z.output<S>, DefaultedField<S>> &
  Optional<z.output<S>, DefaultedField<S>>;

/** The fields that a schema may be given without, and never returns without: `{ a: string; b: default 1 }` → `"b"`. */
type DefaultedField<S extends z.ZodObject> = Exclude<
  OptionalField<z.input<S>> & keyof z.output<S>,
  OptionalField<z.output<S>>
>;

/** `{ a: string; b?: number; [other: string]: unknown }` → `"b"`. */
type OptionalField<T> = keyof {
  [K in keyof T as string extends K ? never : T extends Record<K, T[K]> ? never : K]: never;
};

/** `Omit` that keeps what is said of all other fields. */
type Omitted<T, F> = { [K in keyof T as K extends F ? never : K]: T[K] };

/** Some fields of a row, which may be absent. */
type Optional<T, F> = { [K in keyof T as K extends F ? K : never]?: T[K] | undefined };

const options: Readonly<Record<keyof MigrationDefinition<Model, z.ZodObject, z.ZodObject>, true>> =
  {
    model: true,
    name: true,
    from: true,
    to: true,
    changes: true,
    up: true,
    down: true,
  };

/**
 * Describes how rows of one schema become rows of another, where schemas alone do not say it: a field that is renamed, split,
 * or of another type.
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
 * `up` is given a copy of the row, and what it returns is put to `to`: a row that does not fit is not written. Fields that
 * have defaults are filled in where it returns none. Fields that neither schema knows stay as they are, but for a strict `to`,
 * which has them go. `up` may run more than once on the same row, when it is read and when it is written.
 * What it returns for fields whose schemas are the same has to be what they were, but for those of `changes`; the primary key
 * stays in any case.
 *
 * The functions of the result throw `RowInvalidError` for a row that does not fit, `PrimaryKeyChangeError`, and
 * `InvalidArgumentError` for a promise, for what is no object, and for a change that is not stated.
 *
 * @throws {ModelDefinitionError} for an option that there is not, or a field of `changes` that the schema has not.
 * @throws {InvalidArgumentError} for one that is not valid: schemas without the primary key or with another, two that
 * describe the same rows, or an asynchronous function.
 */
export function defineMigration<M extends Model, From extends z.ZodObject, To extends z.ZodObject>(
  definition: MigrationDefinition<M, From, To>,
): RowMigration {
  const { model, from, to, up, down, changes = [] } = definition;
  if (!isModel(model))
    throw new InvalidArgumentError("", "model", "it has to be what defineModel returned");
  const at = model.name;
  assertOptions(at, "", definition, options);
  const primaryKey = typeof model.primaryKey === "string" ? [model.primaryKey] : model.primaryKey;
  assertSchema(at, "from", from, primaryKey);
  assertSchema(at, "to", to, primaryKey);
  assertFunction(at, "up", up);
  if (down !== undefined) assertFunction(at, "down", down);
  assertFields({ ...model, schema: to }, "changes", changes);
  if (primaryKey.some((field) => (changes as readonly string[]).includes(field)))
    throw new InvalidArgumentError(at, "changes", "a migration cannot change the primary key");
  const [before, after] = [rowManifest(from, primaryKey), rowManifest(to, primaryKey)];
  if (before.hash === after.hash) {
    const reason =
      "it describes the same rows as from, so that nobody could tell which rows are done: add an optional field, or change the rows with updateMany";
    throw new InvalidArgumentError(at, "to", reason);
  }
  if (!keepsPrimaryKey(before, after))
    throw new InvalidArgumentError(at, "to", "a migration cannot change the primary key");
  const changed = compareRows(before, after).map(({ field }) => field);
  const side = (schema: z.ZodObject, manifest: RowManifest): Side => ({ schema, manifest });
  const [old, now] = [side(from, before), side(to, after)];
  const rest = { model: at, primaryKey, changes: [...new Set([...changed, ...changes])] };
  const name = definition.name ?? `${at}: ${before.hash.slice(0, 4)}… → ${after.hash.slice(0, 4)}…`;
  return Object.freeze({
    name,
    model: at,
    from: before,
    to: after,
    up: checked({ ...rest, at: "up", from: old, to: now, change: up as Change }),
    down: down && checked({ ...rest, at: "down", from: now, to: old, change: down as Change }),
    changes: rest.changes,
    complete: (row: AnyRow, fields: readonly string[]) => fillDefaults(at, from, row, fields),
  });
}

type Change = (row: AnyRow) => unknown;

interface Side {
  readonly schema: z.ZodObject;
  readonly manifest: RowManifest;
}

interface GivenChange {
  readonly model: string;
  readonly primaryKey: readonly string[];
  readonly at: "up" | "down";
  readonly from: Side;
  readonly to: Side;
  readonly changes: readonly string[];
  readonly change: Change;
}

/** The user's function, given a copy and believed only when what it returns is a row that it may return. */
function checked(given: GivenChange): (row: AnyRow) => AnyRow {
  const { model, primaryKey, at, from, to, changes, change } = given;
  const schema = synchronousOutputSchema(to.schema);
  const isLoose = Object.hasOwn(from.manifest.fields, otherFields);
  const knows = (field: string) => isLoose || Object.hasOwn(from.manifest.fields, field);
  const isStrict = to.schema._zod.def.catchall?._zod.def.type === "never";
  const isUnknown = (field: string) =>
    !isStrict && !knows(field) && !Object.hasOwn(to.manifest.fields, field);
  const { fields } = to.manifest;
  const defaulted = Object.keys(fields).filter(
    (field) => fields[field]?.defaulted && !fields[field].optional,
  );
  const kept = Object.keys(to.schema.shape).filter(
    (field) =>
      primaryKey.includes(field) ||
      (Object.hasOwn(from.schema.shape, field) && !changes.includes(field)),
  );
  return (row) => {
    const made = change(structuredClone(pick(row, knows)));
    if (typeof made !== "object" || made === null || Array.isArray(made) || isPromise(made)) {
      if (isPromise(made)) made.then(undefined, () => undefined);
      const reason = isPromise(made)
        ? "it returned a promise: it has to be synchronous, and to work with the row alone"
        : "it has to return a row";
      throw new InvalidArgumentError(model, at, reason);
    }
    for (const field of kept) {
      if (isDeepStrictEqual((made as AnyRow)[field], row[field])) continue;
      if (primaryKey.includes(field)) throw new PrimaryKeyChangeError(model, field);
      const reason = `it changes ${JSON.stringify(field)}, whose schema stays as it is: name it in changes, so that its indexes are built anew`;
      throw new InvalidArgumentError(model, at, reason);
    }
    const filled = fillDefaults(model, to.schema, made as AnyRow, defaulted);
    const result = schema.safeParse(filled);
    if (!result.success) throw new RowInvalidError(model, rowIssues(result.error), result.error);
    // Checks may have trimmed a text: what is the same stays the same.
    return { ...pick(row, isUnknown), ...(result.data as AnyRow), ...pick(row, isKept) };
  };
  function isKept(field: string): boolean {
    return kept.includes(field);
  }
}

function pick(row: AnyRow, isPicked: (field: string) => boolean): AnyRow {
  return Object.fromEntries(Object.entries(row).filter(([field]) => isPicked(field)));
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

function assertFunction(model: string, argument: string, value: unknown): void {
  if (typeof value !== "function")
    throw new InvalidArgumentError(model, argument, "it has to be a function");
  if (value.constructor.name !== "AsyncFunction") return;
  throw new InvalidArgumentError(
    model,
    argument,
    "it has to be synchronous, and to work with the row alone",
  );
}

function assertSchema(
  model: string,
  argument: string,
  schema: z.ZodObject,
  primaryKey: readonly string[],
): void {
  const shape = (schema as Partial<z.ZodObject> | undefined)?.shape;
  if (typeof shape !== "object")
    throw new InvalidArgumentError(model, argument, "it has to be a z.object");
  for (const field of primaryKey) {
    if (Object.hasOwn(shape, field)) continue;
    const reason = `it lacks ${JSON.stringify(field)}, which is in the primary key`;
    throw new InvalidArgumentError(model, argument, reason);
  }
}
