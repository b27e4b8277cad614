import * as z from "zod";
import { isUlid } from "./fields/field-schema.js";
import { definitionOf, type Schema } from "./fields/schema-definition.js";
import type { Model } from "./model.js";

/**
 * The schema of a field → the schema of what a caller may pass for it: `z.string().default("")` and
 * `z.string().transform(f)` → `z.string()`.
 */
type InputField<F> = F extends z.ZodDefault<infer I> | z.ZodPrefault<infer I> | z.ZodCatch<infer I>
  ? InputField<I>
  : F extends z.ZodOptional<infer I>
    ? z.ZodOptional<InputSchema<I>>
    : F extends z.ZodNullable<infer I>
      ? z.ZodNullable<InputSchema<I>>
      : F extends z.ZodPipe<infer In, infer Out>
        ? In extends z.ZodTransform
          ? InputField<Out>
          : InputField<In>
        : F;

type InputSchema<F> = InputField<F> extends infer S extends z.core.$ZodType ? S : z.ZodType;

type KeyField<PrimaryKey> = PrimaryKey extends readonly (infer F)[] ? F : PrimaryKey;

/** The schema of an object and the primary key → the schema of the fields that an update takes. */
export type UpdateSchema<Schema extends z.ZodObject, PrimaryKey> = z.ZodObject<{
  -readonly [F in Exclude<keyof Schema["shape"], KeyField<PrimaryKey>>]: z.ZodOptional<
    InputSchema<Schema["shape"][F]>
  >;
}>;

/** The schema of an object and the primary key → the schema of what `create` takes. */
export type CreateSchema<Schema extends z.ZodObject, PrimaryKey> = z.ZodObject<{
  -readonly [F in keyof Schema["shape"]]: undefined extends z.input<Schema["shape"][F]>
    ? z.ZodOptional<InputSchema<Schema["shape"][F]>>
    : F extends PrimaryKey
      ? Schema["shape"][F] extends z.ZodULID
        ? z.ZodExactOptional<Schema["shape"][F]>
        : InputSchema<Schema["shape"][F]>
      : InputSchema<Schema["shape"][F]>;
}>;

/**
 * Returns a schema of the data of `create`, for forms and APIs. It validates each field, and leaves
 * defaults, transforms and conditions on the whole row to `create`. Fields with a default, and the
 * key if it is a ULID, are optional.
 *
 * ```ts
 * const data = createSchema(User).parse(await request.json());
 * await db.users.create({ data });
 * ```
 */
export function createSchema<M extends Model>(
  model: M,
): CreateSchema<M["schema"], M["primaryKey"]> {
  const { schema, primaryKey } = model;
  const created = inputObject(schema, (name, field) => {
    if (name === primaryKey && isUlid(field)) return z.exactOptional(field);
    return field._zod.optin !== undefined ? z.optional(inputOf(field)) : inputOf(field);
  });
  return created as CreateSchema<M["schema"], M["primaryKey"]>;
}

/**
 * Returns a schema of the data of `update`, for forms and APIs. All fields are optional, and those
 * of the primary key are absent. It fills in no defaults, so that an update changes only the fields
 * that were sent. Transforms and conditions on the whole row are left to `update`.
 */
export function updateSchema<M extends Model>(
  model: M,
): UpdateSchema<M["schema"], M["primaryKey"]> {
  const { schema, primaryKey } = model;
  const key: readonly string[] = typeof primaryKey === "string" ? [primaryKey] : primaryKey;
  const updated = inputObject(schema, (name, field) =>
    key.includes(name) ? undefined : z.optional(inputOf(field)),
  );
  return updated as unknown as UpdateSchema<M["schema"], M["primaryKey"]>;
}

function inputObject(
  { shape, _zod: { def } }: z.ZodObject,
  inputField: (name: string, field: z.ZodType) => Schema | undefined,
): z.ZodObject {
  const fields = Object.entries(shape).flatMap(([name, field]) => {
    const input = inputField(name, field as z.ZodType);
    return input === undefined ? [] : [[name, input] as const];
  });
  const object = z.object(Object.fromEntries(fields));
  return def.catchall === undefined ? object : object.catchall(def.catchall);
}

function inputOf(schema: Schema): Schema {
  const def = definitionOf(schema);
  const inner = def.innerType && (() => inputOf(def.innerType!));
  switch (def.type) {
    case "default":
    case "prefault":
    case "catch":
      return inner?.() ?? schema;
    case "optional":
      return inner === undefined ? schema : z.optional(inner());
    case "nullable":
      return inner === undefined ? schema : z.nullable(inner());
    case "pipe": {
      const isBefore = def.in !== undefined && definitionOf(def.in).type === "transform";
      const side = isBefore ? def.out : def.in;
      return side === undefined ? schema : inputOf(side);
    }
    default:
      return schema;
  }
}
