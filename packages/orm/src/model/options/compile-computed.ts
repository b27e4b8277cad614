import { ModelDefinitionError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledModel } from "../compiled-model.js";
import { isPlainObject } from "../is-plain-object.js";
import type { Model } from "../model.js";

/**
 * Checks the computed fields of a model.
 *
 * @throws {ModelDefinitionError} if one is no function, or has the name of a field or a relation.
 */
export function compileComputed({
  name,
  schema,
  relations,
  computed = {},
}: Model): CompiledModel["computed"] {
  const fail = (at: string, reason: string): never => {
    throw new ModelDefinitionError(name, at, reason);
  };
  if (!isPlainObject(computed)) fail("computed", "it must be an object of functions by name");
  const functions: [string, unknown][] = Object.entries(computed);
  for (const [field, compute] of functions) {
    const at = `computed.${field}`;
    if (typeof compute !== "function") fail(at, "it must be a function of a row");
    if (Object.hasOwn(schema.shape, field)) {
      fail(at, "the schema has a field of this name; rename one of them");
    }
    if (Object.hasOwn(relations ?? {}, field) || field === "_count") {
      fail(at, "a relation has this name; rename one of them");
    }
    if (field === "" || field === "__proto__") fail(at, "a field cannot have this name");
  }
  return new Map(functions as [string, (row: AnyRow) => unknown][]);
}
