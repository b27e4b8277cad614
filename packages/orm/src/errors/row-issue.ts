import type * as z from "zod";
import { en } from "zod/locales";
import * as core from "zod/v4/core";
import { definitionOf, lazySchema, type Schema } from "../model/fields/schema-definition.js";
import { knownNames } from "./nearest-name.js";

/** A violation of the schema, with its path in the row. */
export interface RowIssue {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

/** The maximum number of issues in a text. */
const maxIssues = 5;

/** The maximum length of the text of one issue. Enums may have hundreds of values. */
const maxLength = 200;

/** The `params` of issues that this package itself makes. Their messages contain no values. */
export const ownIssue = { isOwn: true } as const;

/** Returns the issues as a text for the field `reason`: `address.city: Required; …`. */
export function issuesReason(issues: readonly RowIssue[]): string {
  return firstIssues(
    issues.map(({ path, message }) =>
      path.length === 0 ? message : `${core.toDotPath(path)}: ${message}`,
    ),
    "; ",
  );
}

/**
 * Returns issues as a text for messages: `email (Invalid email address), age (expected number)`.
 * It contains nothing of the row: no keys of records and maps, and no texts of the schema's author,
 * who may quote the value.
 */
export function issuesMessage(issues: readonly core.$ZodIssue[], schema: Schema): string {
  const { localeError } = en();
  const texts = issues.map((issue) => {
    const text = issueText(issue, schema, localeError).slice(0, maxLength);
    return issue.path.length === 0 ? text : `${pathText(issue.path, schema)} (${text})`;
  });
  return firstIssues(texts, ", ");
}

function firstIssues(texts: readonly string[], separator: string): string {
  const more = texts.length - maxIssues;
  return [...texts.slice(0, maxIssues), ...(more > 0 ? [`${more} more`] : [])].join(separator);
}

function issueText(issue: core.$ZodIssue, schema: Schema, localeError: core.$ZodErrorMap): string {
  if (issue.code === "custom") {
    return issue.params === ownIssue ? issue.message : "a condition of the schema does not hold";
  }
  // Zod's own text would name the type of the input, which an issue no longer has.
  if (issue.code === "invalid_type") return `expected ${issue.expected}`;
  if (issue.code === "invalid_union") return "fits none of the alternatives, or several";
  if (issue.code === "unrecognized_keys") {
    const shape = (schema as Partial<z.ZodObject>).shape;
    if (issue.path.length > 0 || shape === undefined) return "has unknown properties";
    return issue.keys
      .map(
        (key) =>
          `unknown field ${JSON.stringify(key)}; ${knownNames(key, Object.keys(shape), "fields")}`,
      )
      .join(", ");
  }
  const text = localeError(issue as core.$ZodRawIssue) ?? "";
  const message = typeof text === "string" ? text : text.message;
  return message.replace(/^(Invalid input|Invalid option|Too big|Too small): /, "");
}

/** Returns a path as code. Names that the schema does not have, as in a record, become `…`. */
function pathText(path: readonly PropertyKey[], schema: Schema): string {
  let text = "";
  let schemas = partsOf(schema);
  for (const [depth, segment] of path.entries()) {
    const isPosition = typeof segment === "number" && schemas.some(isList);
    // A field of the row itself is a name, even if only a `catchall` allows it.
    const isName = depth === 0 || schemas.some((schema) => hasField(schema, segment));
    const name = isName ? String(segment) : "…";
    text += isPosition ? `[${segment}]` : depth === 0 ? name : `.${name}`;
    schemas = schemas.flatMap((one) => within(one, segment)).flatMap((one) => partsOf(one));
  }
  return text;
}

function isList({ _zod }: Schema): boolean {
  return _zod.def.type === "array" || _zod.def.type === "tuple";
}

function hasField(schema: Schema, name: PropertyKey): boolean {
  const { shape } = definitionOf(schema);
  return shape !== undefined && Object.hasOwn(shape, name);
}

/** Returns the schemas of the values under a key of an object, array, record or map. */
function within(schema: Schema, key: PropertyKey): Schema[] {
  const { shape, catchall, element, items, rest, valueType } = definitionOf(schema);
  const named =
    shape !== undefined && typeof key === "string" && Object.hasOwn(shape, key)
      ? shape[key]
      : catchall;
  const part = typeof key === "number" ? (items?.[key] ?? rest ?? element) : named;
  return [part ?? valueType].filter((one) => one !== undefined);
}

/** Returns a schema and all schemas that it may stand for: those in wrappers, pipes and unions. */
function partsOf(schema: Schema, found = new Set<Schema>()): Schema[] {
  if (found.has(schema)) return [];
  found.add(schema);
  const { type, innerType, in: input, out, options = [], left, right } = definitionOf(schema);
  const lazy = type === "lazy" ? lazySchema(schema) : undefined;
  for (const part of [innerType, input, out, ...options, left, right, lazy]) {
    if (part !== undefined) partsOf(part, found);
  }
  return [...found];
}
