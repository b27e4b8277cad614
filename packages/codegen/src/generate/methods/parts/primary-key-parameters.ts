import type { CompiledModel } from "@keywright/orm/codegen";
import type { ModelNames } from "../../../project/models/model-names.js";
import { keyType, type ModelTypes } from "../../../types/model-types.js";
import { fieldsObject, parameterNames } from "./parameter-names.js";

/** The primary key as the parameters of generated methods and as a `where`. */
export interface KeyParameters {
  /** One parameter for each field. */
  readonly declarations: readonly string[];
  /** The parameters as a `where`: `{ id }`. */
  readonly where: string;
  /** The type of one key in a list of keys. */
  readonly one: string;
}

export function primaryKeyParameters(
  model: CompiledModel,
  names: ModelNames,
  { row }: ModelTypes,
): KeyParameters {
  const at = `the primary key of model ${JSON.stringify(model.name)}`;
  const parameters = parameterNames(model.primaryKey, at);
  const types = model.primaryKey.map((field) => keyType(row, field, names.row));
  const declarations = types.map((type, position) => `${parameters[position]}: ${type}`);
  const where = fieldsObject(model.primaryKey, parameters);
  return declarations.length === 1
    ? { declarations, where, one: `(${types[0]})` }
    : { declarations, where, one: `(readonly [${declarations.join(", ")}])` };
}
