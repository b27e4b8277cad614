import * as z from "zod";
import * as core from "zod/v4/core";
import {
  type Check,
  definitionOf,
  lazySchema,
  type Schema,
  type SchemaDefinition,
} from "./schema-definition.js";

/** The options of a conversion, and its results, because a schema can contain itself. */
interface Walk {
  readonly outputs: WeakMap<Schema, Schema>;
  readonly check: (check: Check) => Check;
}

const complete: Walk = { outputs: new WeakMap(), check: (check) => check };
const synchronous: Walk = { outputs: new WeakMap(), check: withoutPromises };

/**
 * Returns a schema of the values that a schema returns. It uses the output of pipes, has no
 * defaults and no coercion, and allows any value for the result of a transform. The conditions of
 * the schema remain. The new schema may change a value, for example trim a text, but it returns an
 * equal value for one that the original schema has returned.
 */
export function outputSchema(schema: z.ZodType): z.ZodType {
  return outputOf(schema, complete) as z.ZodType;
}

/** Like {@link outputSchema}, but a condition that returns a promise is assumed to hold. */
export function synchronousOutputSchema(schema: z.ZodType): z.ZodType {
  return outputOf(schema, synchronous) as z.ZodType;
}

function outputOf(schema: Schema, walk: Walk): Schema {
  const existing = walk.outputs.get(schema);
  if (existing !== undefined) return existing;
  const { checks = [] } = definitionOf(schema);
  const base = baseOf(schema, walk);
  const output = checks.length === 0 ? base : withChecks(base, checks.map(walk.check));
  walk.outputs.set(schema, output);
  return output;
}

function baseOf(schema: Schema, walk: Walk): Schema {
  const def = definitionOf(schema);
  const of = (part: Schema | undefined) => outputOf(part ?? z.any(), walk);
  switch (def.type) {
    case "object":
      return objectOf(schema, walk);
    case "array":
      return withParts(schema, { element: of(def.element) });
    case "set":
      return withParts(schema, { valueType: of(def.valueType) });
    case "map":
    case "record":
      return withParts(schema, { keyType: of(def.keyType), valueType: of(def.valueType) });
    case "tuple":
      return withParts(schema, { items: def.items?.map(of), rest: def.rest && of(def.rest) });
    case "union":
      return unionOf(schema, def.options?.map(of) ?? []);
    case "intersection":
      return withParts(schema, { left: of(def.left), right: of(def.right) });
    case "optional":
    case "nullable":
    case "nonoptional":
      return withParts(schema, { innerType: of(def.innerType) });
    case "default":
    case "prefault":
      return z.nonoptional(of(def.innerType) as z.ZodType);
    // A readonly schema would freeze the value, which belongs to the caller.
    case "catch":
    case "readonly":
    case "promise":
      return of(def.innerType);
    case "pipe":
      return of(def.out);
    case "lazy":
      return z.lazy(() => of(lazySchema(schema)));
    // A field that may be anything may also be absent.
    case "transform":
    case "any":
    case "unknown":
      return z.any().optional();
    case "success":
      return z.boolean();
    case "custom":
      return withChecks(z.any(), [walk.check(schema as unknown as Check)]);
    default:
      return withParts(schema, def.coerce ? { coerce: false } : {});
  }
}

/** Converts the fields on first use, because a field may contain the object itself. */
function objectOf(schema: Schema, walk: Walk): Schema {
  const { shape = {}, catchall } = definitionOf(schema);
  let output: Record<string, Schema> | undefined;
  const make = () =>
    Object.fromEntries(
      Object.keys(shape).map((field) => [field, outputOf(shape[field] ?? z.any(), walk)]),
    );
  return withParts(schema, {
    get shape() {
      output ??= make();
      return output;
    },
    ...(catchall && { catchall: outputOf(catchall, walk) }),
  });
}

/**
 * Converts a union. It remains a discriminated union only if the discriminator of every option is a
 * literal or an enum. The values of any other discriminator may be unknown after the conversion.
 */
function unionOf(schema: Schema, options: readonly Schema[]): Schema {
  const { discriminator, options: originals = [] } = definitionOf(schema);
  const keepsDiscriminator = originals.every(({ _zod }) => {
    const { type, shape } = _zod.def as SchemaDefinition;
    const field = type === "object" ? shape?.[discriminator ?? ""] : undefined;
    return field !== undefined && ["literal", "enum"].includes(definitionOf(field).type);
  });
  if (discriminator === undefined || keepsDiscriminator) return withParts(schema, { options });
  return z.union(options as [z.ZodType, z.ZodType]);
}

function withParts(schema: Schema, parts: object): Schema {
  const def = Object.create(null, {
    ...Object.getOwnPropertyDescriptors(schema._zod.def),
    ...Object.getOwnPropertyDescriptors(parts),
  });
  delete def.checks;
  return core.clone(schema, def);
}

function withChecks(schema: Schema, checks: readonly Check[]): Schema {
  const { checks: existing = [] } = definitionOf(schema);
  // Property descriptors are copied, because reading `shape` would convert the fields too early.
  const def = Object.create(null, {
    ...Object.getOwnPropertyDescriptors(schema._zod.def),
    checks: {
      value: [...existing, ...checks],
      enumerable: true,
      configurable: true,
      writable: true,
    },
  });
  return core.clone(schema, def);
}

/** Returns a check that holds if the original check returns a promise. */
function withoutPromises(check: Check): Check {
  if (check._zod.def.check !== "custom") return check;
  const run = (payload: core.ParsePayload<never>) => {
    const copy: core.ParsePayload<never> = { value: payload.value, issues: [] };
    const result: unknown = check._zod.check(copy);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      return;
    }
    payload.value = copy.value;
    payload.issues.push(...copy.issues);
  };
  return { _zod: { ...check._zod, check: run } } as Check;
}
