import { isDeepStrictEqual } from "node:util";
import { type JsonSchema, rowManifest } from "@keywright/orm/codegen";
import * as z from "zod";
import {
  lengthsSource,
  literalSource,
  nameSource,
  regexSource,
  sizesSource,
  UnwritableError,
} from "./literal-source.js";
import { bigintSource, dateSchemaSource, numberSource } from "./number-source.js";
import { stringSource } from "./string-source.js";

/** The constants for schemas that contain themselves and therefore need a name. */
export interface SchemaConstants {
  readonly claim: () => string;
  readonly lines: string[];
}

/** A union if the value must be present although it may be undefined. */
type UndefinedAs = "optional" | "union";

/** Writes a Zod schema of the values that a manifest describes. Transforms give unknown. */
export function schemaSource(
  schema: JsonSchema,
  constants: SchemaConstants,
  undefinedAs: UndefinedAs = "optional",
): string {
  return new DocumentWriter(schema, constants).write(undefinedAs);
}

/** Writes the schema of one document. References in it refer to the same document. */
class DocumentWriter {
  readonly #root: JsonSchema;
  readonly #constants: SchemaConstants;
  readonly #names = new Map<string, string>();

  constructor(root: JsonSchema, constants: SchemaConstants) {
    this.#root = root;
    this.#constants = constants;
  }

  write(undefinedAs: UndefinedAs): string {
    const { $defs, ...root } = this.#root;
    return refersTo(root, "#") ? this.#reference("#") : this.#source(root, undefinedAs);
  }

  #reference(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const target = this.#targetOf(reference);
    const isJson = isAnyJson(target, reference);
    if (isJson && reference === "#") return "z.json()";
    if (!isJson && (target.type !== "object" || target.properties === undefined)) {
      throw new UnwritableError("it contains itself, and is no object");
    }
    const name = this.#constants.claim();
    this.#names.set(reference, name);
    const source = isJson ? "z.json()" : this.#source(target);
    this.#constants.lines.push(`const ${name} = ${source};`);
    return name;
  }

  #targetOf(reference: string): JsonSchema {
    if (reference === "#") return this.#root;
    const definitions = (this.#root.$defs ?? {}) as Readonly<Record<string, JsonSchema>>;
    const target = definitions[reference.replace("#/$defs/", "")];
    if (target === undefined) throw new UnwritableError("it refers to nothing");
    return target;
  }

  #source(schema: JsonSchema, undefinedAs: UndefinedAs = "optional"): string {
    const { type, anyOf, allOf, $ref } = schema;
    if (typeof $ref === "string") return this.#reference($ref);
    if (Array.isArray(anyOf)) return this.#union(anyOf as readonly JsonSchema[], undefinedAs);
    if (Array.isArray(schema.enum)) return enumSource(schema.enum as readonly unknown[]);
    if (Object.keys(schema).length === 0) return "z.unknown()";
    if (type === undefined && Array.isArray(allOf)) {
      return (allOf as readonly JsonSchema[])
        .map((part) => this.#source(part))
        .reduce((left, right) => `z.intersection(${left}, ${right})`);
    }
    switch (type) {
      case undefined:
        return "z.never()";
      case "string":
        return stringSource(schema);
      case "number":
      case "integer":
        return numberSource(schema);
      case "x-bigint":
        return bigintSource(schema);
      case "x-date":
        return dateSchemaSource(schema);
      case "array":
        return this.#array(schema);
      case "object":
        return this.#object(schema);
      case "x-map":
      case "x-set": {
        const parts = type === "x-map" ? [schema.keys, schema.values] : [schema.values];
        const sources = parts.map((part) => this.#document(part));
        const sizes = sizesSource(schema.minItems, schema.maxItems);
        return `z.${type.slice(2)}(${sources.join(", ")})${sizes}`;
      }
      case "x-instance":
        return `z.instanceof(${className(schema.class)})`;
      case "x-custom":
        return "z.custom<unknown>()";
      case "x-transform":
        return schema.input === undefined
          ? "z.transform((value: unknown): unknown => value)"
          : `${this.#document(schema.input)}.transform((value): unknown => value)`;
      case "boolean":
      case "null":
        return `z.${type}()`;
      case "x-undefined":
      case "x-nan":
      case "x-symbol":
      case "x-file":
        return `z.${type.slice(2)}()`;
      default:
        throw new UnwritableError(`there is no schema of ${JSON.stringify(type)}`);
    }
  }

  /** Writes a part that has a document of its own. */
  #document(schema: unknown): string {
    return schemaSource(schema as JsonSchema, this.#constants);
  }

  #union(alternatives: readonly JsonSchema[], undefinedAs: UndefinedAs): string {
    const isOptional = undefinedAs === "optional" && alternatives.some(isUndefined);
    const isNullable = alternatives.some(isNull);
    const rest = alternatives.filter(
      (one) => !isNull(one) && !(undefinedAs === "optional" && isUndefined(one)),
    );
    const nullable = isNullable ? ".nullable()" : "";
    const optional = isOptional ? ".optional()" : "";
    if (rest.length === 0) return `z.null()${optional}`;
    const sources = rest.map((one) => this.#source(one));
    const union = sources.length === 1 ? sources.join() : `z.union([${sources.join(", ")}])`;
    return `${union}${nullable}${optional}`;
  }

  #array({ items, prefixItems, minItems, maxItems }: JsonSchema): string {
    if (!Array.isArray(prefixItems)) {
      return `z.array(${this.#source(items as JsonSchema)})${lengthsSource(minItems, maxItems)}`;
    }
    const requiredCount = Number(minItems ?? 0);
    const elements = (prefixItems as readonly JsonSchema[]).map((part, i) =>
      i < requiredCount ? this.#source(part, "union") : withOptional(this.#source(part)),
    );
    const rest = items === false ? "" : `, ${this.#source(items as JsonSchema)}`;
    return `z.tuple([${elements.join(", ")}]${rest})`;
  }

  #object(schema: JsonSchema): string {
    const { properties, additionalProperties, patternProperties, propertyNames } = schema;
    const required = (schema.required ?? []) as readonly string[];
    if (propertyNames !== undefined) {
      const keys = propertyNames as JsonSchema;
      const isPartial = Array.isArray(keys.enum) && required.length === 0;
      const values = this.#source((additionalProperties ?? {}) as JsonSchema);
      return `z.${isPartial ? "partialRecord" : "record"}(${this.#source(keys)}, ${values})`;
    }
    if (patternProperties !== undefined) {
      const [[pattern, values] = ["", {}], ...others] = Object.entries(patternProperties as object);
      if (others.length > 0) throw new UnwritableError("its names have several patterns");
      return `z.looseRecord(z.string().regex(${regexSource(pattern, "")}), ${this.#source(values as JsonSchema)})`;
    }
    const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(
      ([name, property]) => {
        const source = required.includes(name)
          ? this.#source(property, "union")
          : withOptional(this.#source(property));
        return refersTo(property, undefined)
          ? `get ${nameSource(name)}() { return ${source}; }`
          : `${nameSource(name)}: ${source}`;
      },
    );
    return objectSource(
      members,
      additionalProperties === false ? undefined : this.#source(additionalProperties as JsonSchema),
    );
  }
}

/**
 * Writes an object schema.
 *
 * @param others the schema of all other fields, if there may be any.
 */
export function objectSource(members: readonly string[], others: string | undefined): string {
  const shape = members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  if (others === undefined) return `z.object(${shape})`;
  return others === "z.unknown()"
    ? `z.looseObject(${shape})`
    : `z.object(${shape}).catchall(${others})`;
}

/** Makes a schema optional, unless it is optional already. */
export function withOptional(source: string): string {
  return source.endsWith(".optional()") ? source : `${source}.optional()`;
}

function enumSource(values: readonly unknown[]): string {
  const isNamed = values.every((value) => typeof value === "string" && value !== "__proto__");
  const literals = values.map(literalOf);
  if (literals.length === 1) return `z.literal(${literals.join()})`;
  return `z.${isNamed ? "enum" : "literal"}([${literals.join(", ")}])`;
}

/** A manifest contains values that JSON lacks as objects. */
function literalOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return literalSource(value);
  const { "x-bigint": bigint, "x-number": number } = value as JsonSchema;
  if (typeof bigint === "string" && /^-?\d+$/.test(bigint)) return `${bigint}n`;
  if (["NaN", "Infinity", "-Infinity"].includes(String(number))) return String(number);
  throw new UnwritableError("it is no literal");
}

/** The classes that every program has and whose instances a database can store. */
const classes: ReadonlySet<string> = new Set(
  (
    "ArrayBuffer BigInt64Array BigUint64Array DataView Date Error Float32Array Float64Array Int16Array Int32Array Int8Array Map " +
    "RegExp Set URL Uint16Array Uint32Array Uint8Array Uint8ClampedArray"
  ).split(" "),
);

function className(name: unknown): string {
  if (typeof name === "string" && classes.has(name)) return name;
  throw new UnwritableError("it is of a class of the program's");
}

function isNull({ type }: JsonSchema): boolean {
  return type === "null";
}

function isUndefined({ type }: JsonSchema): boolean {
  return type === "x-undefined";
}

/** The types whose parts are documents of their own. */
const documentTypes: ReadonlySet<unknown> = new Set(["x-map", "x-set", "x-transform"]);

/** True if a schema contains a reference, or any reference if `reference` is undefined. */
function refersTo(schema: unknown, reference: string | undefined): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { $ref, type } = schema as JsonSchema;
  if (documentTypes.has(type)) return false;
  if (typeof $ref === "string" && (reference ?? $ref) === $ref) return true;
  return Object.values(schema).some((part) => refersTo(part, reference));
}

/** True if a schema that contains itself is that of `z.json()`. */
function isAnyJson(schema: JsonSchema, reference: string): boolean {
  if (schema.anyOf === undefined) return false;
  const text = JSON.stringify(schema).replaceAll(JSON.stringify(reference), '"#"');
  const { fields } = rowManifest(z.object({ json: z.json() }), []);
  return isDeepStrictEqual(JSON.parse(text), fields.json?.schema);
}
