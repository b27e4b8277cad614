import * as z from "zod";

type Schema = z.core.$ZodType;
type Check = z.core.$ZodCheck<never>;

/** The parts of a schema's definition that others are made of. */
interface Definition {
  readonly type: string;
  readonly checks?: readonly Check[];
  readonly coerce?: boolean;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly catchall?: Schema;
  readonly element?: Schema;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly items?: readonly Schema[];
  readonly rest?: Schema | null;
  readonly options?: readonly Schema[];
  readonly left?: Schema;
  readonly right?: Schema;
  readonly innerType?: Schema;
  readonly out?: Schema;
  readonly discriminator?: string;
}

/** How output schemas are made, and those that were: a schema that contains itself has one that does, too. */
interface Walk {
  readonly made: WeakMap<Schema, Schema>;
  readonly check: (check: Check) => Check;
}

const whole: Walk = { made: new WeakMap(), check: (check) => check };
const synchronous: Walk = { made: new WeakMap(), check: withoutPromises };

/**
 * What the values fit that a schema returns: the far side of pipes, no defaults, no coercion, anything where a transform
 * makes it. Conditions of the schema hold of it too. It may return another value than it is given, as trimmed text; an
 * equal one where that came from the schema itself.
 */
export function outputSchema(schema: z.ZodType): z.ZodType {
  return outputOf(schema, whole) as z.ZodType;
}

/** The same without the conditions that take time: where one returns a promise, it is taken to hold. */
export function synchronousOutputSchema(schema: z.ZodType): z.ZodType {
  return outputOf(schema, synchronous) as z.ZodType;
}

function outputOf(schema: Schema, walk: Walk): Schema {
  const known = walk.made.get(schema);
  if (known !== undefined) return known;
  const { checks = [] } = definitionOf(schema);
  const base = baseOf(schema, walk);
  const output = checks.length === 0 ? base : withChecks(base, checks.map(walk.check));
  walk.made.set(schema, output);
  return output;
}

/** The output schema of a schema without its checks. */
function baseOf(schema: Schema, walk: Walk): Schema {
  const def = definitionOf(schema);
  const of = (part: Schema | undefined) => outputOf(part ?? z.any(), walk);
  switch (def.type) {
    case "object":
      return objectOf(schema, walk);
    case "array":
      return changed(schema, { element: of(def.element) });
    case "set":
      return changed(schema, { valueType: of(def.valueType) });
    case "map":
    case "record":
      return changed(schema, { keyType: of(def.keyType), valueType: of(def.valueType) });
    case "tuple":
      return changed(schema, { items: def.items?.map(of), rest: def.rest && of(def.rest) });
    case "union":
      return unionOf(schema, def.options?.map(of) ?? []);
    case "intersection":
      return changed(schema, { left: of(def.left), right: of(def.right) });
    case "optional":
    case "nullable":
    case "nonoptional":
      return changed(schema, { innerType: of(def.innerType) });
    case "default":
    case "prefault":
      return z.nonoptional(of(def.innerType) as z.ZodType);
    // A readonly value would be frozen, and it is somebody's row.
    case "catch":
    case "readonly":
    case "promise":
      return of(def.innerType);
    case "pipe":
      return of(def.out);
    case "lazy":
      return z.lazy(() => of((schema as z.core.$ZodLazy)._zod.innerType));
    // Where a field may be anything, it may be absent.
    case "transform":
    case "any":
    case "unknown":
      return z.any().optional();
    case "success":
      return z.boolean();
    case "custom":
      return withChecks(z.any(), [walk.check(schema as unknown as Check)]);
    default:
      return changed(schema, def.coerce ? { coerce: false } : {});
  }
}

/** An object's fields are looked at when they are needed: one of them may be the object itself. */
function objectOf(schema: Schema, walk: Walk): Schema {
  const { shape = {}, catchall } = definitionOf(schema);
  let output: Record<string, Schema> | undefined;
  const make = () =>
    Object.fromEntries(
      Object.keys(shape).map((field) => [field, outputOf(shape[field] ?? z.any(), walk)]),
    );
  return changed(schema, {
    get shape() {
      output ??= make();
      return output;
    },
    ...(catchall && { catchall: outputOf(catchall, walk) }),
  });
}

/** Options are told apart by a field as long as all of them have its values still. */
function unionOf(schema: Schema, options: readonly Schema[]): Schema {
  const { discriminator, options: before = [] } = definitionOf(schema);
  const isSame = before.every(({ _zod }) => {
    const { type, shape } = _zod.def as Definition;
    const field = type === "object" ? shape?.[discriminator ?? ""] : undefined;
    return field !== undefined && ["literal", "enum"].includes(definitionOf(field).type);
  });
  if (discriminator === undefined || isSame) return changed(schema, { options });
  return z.union(options as [z.ZodType, z.ZodType]);
}

/** The same kind of schema with other parts, without checks. */
function changed(schema: Schema, parts: object): Schema {
  const def = Object.create(null, {
    ...Object.getOwnPropertyDescriptors(schema._zod.def),
    ...Object.getOwnPropertyDescriptors(parts),
  });
  delete def.checks;
  return z.core.clone(schema, def);
}

/** The same schema with checks behind its own. */
function withChecks(schema: Schema, checks: readonly Check[]): Schema {
  const { checks: own = [] } = definitionOf(schema);
  // Descriptors, so that the fields of an object that is being made are not asked for.
  const def = Object.create(null, {
    ...Object.getOwnPropertyDescriptors(schema._zod.def),
    checks: { value: [...own, ...checks], enumerable: true, configurable: true, writable: true },
  });
  return z.core.clone(schema, def);
}

/** A check whose promises are not waited for. */
function withoutPromises(check: Check): Check {
  if (check._zod.def.check !== "custom") return check;
  const run = (payload: z.core.ParsePayload<never>) => {
    const own: z.core.ParsePayload<never> = { value: payload.value, issues: [] };
    const result: unknown = check._zod.check(own);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      return;
    }
    payload.value = own.value;
    payload.issues.push(...own.issues);
  };
  return { _zod: { ...check._zod, check: run } } as Check;
}

function definitionOf(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}
