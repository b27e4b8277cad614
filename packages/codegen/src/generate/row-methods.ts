import type { CompiledModel } from "@keywright/orm";
import { pascalCase } from "../schema/identifiers.js";
import { keyType, type ModelTypes } from "../schema/model-types.js";
import { fieldList } from "./field-list.js";
import type { Method } from "./method.js";
import type { ModelNames } from "./model-names.js";
import { parameterNames } from "./parameter-names.js";

/** `findById`. Its name tells the primary key's fields: `findByTenantIdAndId`. */
export function findByPrimaryKeyMethod(
  model: CompiledModel,
  names: ModelNames,
  types: ModelTypes,
): Method {
  const key = primaryKeyParameters(model, names, types);
  return {
    name: `findBy${model.primaryKey.map(pascalCase).join("And")}`,
    description: `The row with this ${fieldList(model.primaryKey)}, null where there is none. One read.`,
    errors: [],
    parameters: key.declarations,
    result: `${names.row} | null`,
    call: `findByPrimaryKey(${key.list})`,
  };
}

/** `create`, `update` and `delete`. */
export function writeMethods(model: CompiledModel, names: ModelNames, types: ModelTypes): Method[] {
  const key = primaryKeyParameters(model, names, types);
  const [id] = model.primaryKey;
  const generated = model.generatesId ? `, a ULID as \`${id}\` where it is absent` : "";
  const notFound = "{RowNotFoundError} where there is no such row.";
  const invalid = "{RowInvalidError} where the schema refuses the data.";
  const uniqueFields = model.indexes
    .filter((index) => index.unique)
    .map((index) => fieldList(index.fields));
  const taken = (keys: readonly string[]) =>
    keys.length === 0
      ? []
      : [`{UniqueConstraintError} where another row has this ${keys.join(", or this ")}.`];
  const stale =
    "{StaleSchemaError} where the database has indexes that this program does not know.";
  return [
    {
      name: "create",
      description: `Creates a row and returns it: defaults filled in${generated}. One commit.`,
      errors: [invalid, ...taken([fieldList(model.primaryKey), ...uniqueFields]), stale],
      parameters: [`data: ${names.create}`],
      result: names.row,
      call: "create(data)",
    },
    {
      name: "update",
      description:
        "Changes fields of a row and returns it as it is then. One read and one commit, more where others write the row too.",
      errors: [notFound, invalid, ...taken(uniqueFields), stale],
      parameters: [...key.declarations, `data: ${names.update}`],
      result: names.row,
      call: `update(${key.list}, data)`,
    },
    {
      name: "delete",
      description:
        "Removes a row and returns it as it was. One read and one commit, more where others write the row too.",
      errors: [notFound, stale],
      parameters: key.declarations,
      result: names.row,
      call: `delete(${key.list})`,
    },
  ];
}

/** The fields of the primary key as parameters, and as the list that a table takes. */
function primaryKeyParameters(
  model: CompiledModel,
  names: ModelNames,
  { row }: ModelTypes,
): { readonly declarations: string[]; readonly list: string } {
  const at = `the primary key of model ${JSON.stringify(model.name)}`;
  const parameters = parameterNames(model.primaryKey, at);
  return {
    declarations: model.primaryKey.map(
      (field, position) => `${parameters[position]}: ${keyType(row, field, names.row)}`,
    ),
    list: `[${parameters.join(", ")}]`,
  };
}
