import { knownNames } from "../errors/nearest-name.js";
import { ModelDefinitionError } from "../errors/schema-errors.js";
import type { Model } from "./model.js";

export function assertOptions(
  model: string,
  at: string,
  definition: object,
  known: readonly string[],
): void {
  for (const option of Object.keys(definition)) {
    if (known.includes(option)) continue;
    const reason = `there is no such option; ${knownNames(option, known, "options")}`;
    throw new ModelDefinitionError(model, at === "" ? option : `${at}.${option}`, reason);
  }
}

export function assertBooleans<T extends object>(
  model: string,
  at: string,
  definition: T,
  names: readonly (keyof T & string)[],
): void {
  for (const name of names) {
    const value: unknown = definition[name];
    if (value === undefined || typeof value === "boolean") continue;
    const reason = "it must be true or false";
    throw new ModelDefinitionError(model, at === "" ? name : `${at}.${name}`, reason);
  }
}

export function assertFields(model: Model, at: string, fields: readonly string[]): void {
  if (!Array.isArray(fields)) {
    const reason = `it must be ${at === "primaryKey" ? "a field or " : ""}a list of fields`;
    throw new ModelDefinitionError(model.name, at, reason);
  }
  for (const [position, field] of fields.entries()) {
    if (!Object.hasOwn(model.schema.shape, field)) {
      const advice = knownNames(String(field), Object.keys(model.schema.shape), "fields");
      const reason = `the schema has no field ${JSON.stringify(field)}; ${advice}`;
      throw new ModelDefinitionError(model.name, at, reason);
    }
    if (fields.indexOf(field) !== position) {
      throw new ModelDefinitionError(model.name, at, `it names ${JSON.stringify(field)} twice`);
    }
  }
}
