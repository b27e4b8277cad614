import type { CompiledModel } from "@keywright/orm";
import { pascalCase } from "../schema/identifiers.js";
import { keyType, type ModelTypes } from "../schema/model-types.js";
import { fieldList } from "./field-list.js";
import { listErrors } from "./list-errors.js";
import type { Method } from "./method.js";
import type { ModelNames } from "./model-names.js";
import { parameterNames } from "./parameter-names.js";
import {
  canExpire,
  createOptions,
  expiry,
  ifVersion,
  notFound,
  optionsOf,
  staleSchema,
  updateOptions,
  upsertData,
  versionConflict,
  writeErrors,
} from "./write-signature.js";

/** `findById` and the others that read rows without an index. Their names tell the primary key's fields: `findByTenantIdAndId`. */
export function readMethods(model: CompiledModel, names: ModelNames, types: ModelTypes): Method[] {
  const key = primaryKeyParameters(model, names, types);
  const by = `By${model.primaryKey.map(pascalCase).join("And")}`;
  const fields = fieldList(model.primaryKey);
  const count: Method = {
    name: "count",
    description: "How many rows there are. One read.",
    errors: [],
    parameters: [],
    result: "Promise<number>",
    call: "count()",
  };
  return [
    {
      name: `find${by}`,
      description: `The row with this ${fields}, null where there is none. One read.`,
      errors: [],
      parameters: key.declarations,
      result: `Promise<${names.row} | null>`,
      call: `findByPrimaryKey(${key.list})`,
    },
    {
      name: `findVersioned${by}`,
      description: `The row with this ${fields} and its versionstamp, for a write with \`ifVersion\`; null where there is none. One read.`,
      errors: [],
      parameters: key.declarations,
      result: `Promise<Versioned<${names.row}> | null>`,
      call: `findVersionedByPrimaryKey(${key.list})`,
    },
    {
      name: `watch${by}`,
      description: `The row with this ${fields}, now and after each change of it; null while there is none.`,
      errors: [],
      parameters: key.declarations,
      result: `ReadableStream<${names.row} | null>`,
      call: `watchByPrimaryKey(${key.list})`,
    },
    {
      name: "scan",
      description: `Every row, in the order of ${fields}: awaited a page, with \`for await\` one after the other. One read for each row.`,
      errors: listErrors,
      parameters: ["options?: ListOptions"],
      result: `RowQuery<${names.row}>`,
      call: "scan(options)",
    },
    ...(model.counted ? [count] : []),
  ];
}

/** `create`, `createMany`, `update`, `upsert` and `delete`. */
export function writeMethods(model: CompiledModel, names: ModelNames, types: ModelTypes): Method[] {
  const key = primaryKeyParameters(model, names, types);
  const [id] = model.primaryKey;
  const generated = model.generatesId ? `, a ULID as \`${id}\` where it is absent` : "";
  const { create, update } = writeErrors(model);
  const stays = model.generatesId ? `; one that is created has this \`${id}\`` : "";
  return [
    {
      name: "create",
      description: `Creates a row and returns it: defaults filled in${generated}. One commit.`,
      errors: create,
      parameters: [`data: ${names.create}`, ...createOptions(model)],
      result: `Promise<${names.row}>`,
      call: `create(data${canExpire(model) ? ", options" : ""})`,
    },
    {
      name: "createMany",
      description:
        "Creates rows, some hundred in a commit, and says of each what became of it; with `atomic` all of them in one commit, or none.",
      errors: [],
      parameters: [
        `data: readonly ${names.create}[]`,
        optionsOf("atomic?: boolean | undefined", ...expiry(model)),
      ],
      result: `Promise<ManyResult<${names.row}>>`,
      call: "createMany(data, options)",
    },
    {
      name: "update",
      description:
        "Changes fields of a row and returns it as it is then. One read and one commit, more where others write the row too.",
      errors: [notFound, ...update, ...versionConflict],
      parameters: [...key.declarations, `data: ${names.update}`, updateOptions(model)],
      result: `Promise<${names.row}>`,
      call: `update(${key.list}, data, options)`,
    },
    {
      name: "upsert",
      description: `Changes the row with this ${fieldList(model.primaryKey)}, or creates it where there is none, and returns it${stays}.`,
      errors: [...create, ...versionConflict],
      parameters: [...key.declarations, upsertData(names), updateOptions(model)],
      result: `Promise<${names.row}>`,
      call: `upsert(${key.list}, data, options)`,
    },
    {
      name: "delete",
      description:
        "Removes a row and returns it as it was. One read and one commit, more where others write the row too.",
      errors: [notFound, staleSchema, ...versionConflict],
      parameters: [...key.declarations, optionsOf(ifVersion)],
      result: `Promise<${names.row}>`,
      call: `delete(${key.list}, options)`,
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
