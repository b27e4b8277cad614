import type { BelongsTo } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import type { ModelNames, NamedModel } from "../../project/models/model-names.js";
import { pascalCase } from "../../types/identifiers.js";
import type { ModelTypes } from "../../types/model-types.js";
import { deletedMethods } from "./deleted-methods.js";
import { logMethods } from "./log-methods.js";
import { type AggregatesText, aggregatesText } from "./parts/aggregates-text.js";
import { fieldList } from "./parts/field-list.js";
import { awaitOrIterate, listErrors, readLimit, unsafeSum } from "./parts/list-errors.js";
import type { Method } from "./parts/method.js";
import { primaryKeyParameters } from "./parts/primary-key-parameters.js";
import { upsertData, type WriteData } from "./parts/upsert-data.js";
import {
  createManyErrors,
  createOptions,
  deleteOptions,
  expireIn,
  manyRows,
  moreIfContended,
  notFound,
  optionsOf,
  orDeleted,
  readOptions,
  resultOfEach,
  staleSchema,
  updateOptions,
  upsertErrors,
  versionConflict,
  writeErrors,
} from "./parts/write-signature.js";

const oneReadAndCommit = `One read and one commit, ${moreIfContended}.`;

/**
 * Returns `findById` and the other methods that read rows without an index. Their names contain the
 * fields of the primary key: `findByTenantIdAndId`.
 */
export function readMethods({ model, definition, names }: NamedModel, types: ModelTypes): Method[] {
  const key = primaryKeyParameters(model, names, types);
  const by = `By${model.primaryKey.map(pascalCase).join("And")}`;
  const fields = fieldList(model.primaryKey);
  const { min = [], max = [] } = definition;
  const aggregates = aggregatesText({ sums: model.sums, min, max }, names, types);
  const one = `{ ...options, where: ${key.where} }`;
  const oneOptions = orDeleted(model, readOptions);
  return [
    {
      name: `find${by}`,
      description: `Returns the row with this ${fields}, or null if there is none. One read.`,
      parameters: [...key.declarations, oneOptions],
      result: "Promise<Row | null>",
      call: `findUnique(${one})`,
    },
    {
      name: `find${by}OrThrow`,
      description: `Returns the row with this ${fields}. One read.`,
      errors: [notFound],
      parameters: [...key.declarations, oneOptions],
      result: "Promise<Row>",
      call: `findUniqueOrThrow(${one})`,
    },
    {
      name: `findEach${by}`,
      description: `Returns the row for each of the \`keys\` (${fields}), or null if there is none, in the order of the keys. One read for each, all together.`,
      errors: [readLimit],
      parameters: [`keys: readonly ${key.one}[]`, oneOptions],
      result: "Promise<(Row | null)[]>",
      call: "findEach(keys, options)",
    },
    {
      name: `findVersioned${by}`,
      description: `Returns the row with this ${fields} and its versionstamp, or null if there is none. A write can pass the versionstamp as \`ifVersion\`. One read.`,
      parameters: [...key.declarations, oneOptions],
      result: "Promise<WithVersionstamp<Row> | null>",
      call: `findVersioned(${one})`,
    },
    {
      name: `watch${by}`,
      description: `Returns a stream of the row with this ${fields}: the current row, then the row after each change. It is null while there is none. One read each time.`,
      parameters: [...key.declarations, readOptions],
      result: "ReadableStream<Row | null>",
      call: `watch(${one})`,
    },
    {
      name: "scan",
      description: `Finds all rows, in the order of ${fields}. ${awaitOrIterate} One read per row.`,
      errors: listErrors,
      parameters: [orDeleted(model, `options?: ListOptions<${names.row}>`)],
      result: "RowQuery<Row>",
      call: "scan(options)",
    },
    {
      name: "count",
      description: `Returns the number of rows. ${model.counted ? "One read, or with a filter one per row." : "One read per row."}`,
      parameters: [`options?: CountOptions<${names.row}>`],
      result: "Promise<number>",
      call: "count(options)",
    },
    {
      name: "exists",
      description: "Returns true if there are rows. Reads up to the first one.",
      parameters: [`options?: CountOptions<${names.row}>`],
      result: "Promise<boolean>",
      call: "exists(options)",
    },
    ...(aggregates === undefined ? [] : [aggregateMethod(aggregates)]),
  ];
}

function aggregateMethod({ options, result }: AggregatesText): Method {
  return {
    name: "aggregate",
    description:
      "Returns the number of rows, and the sums, means, minima and maxima that the model maintains for all rows. A value is null if no row has one. One read for each sum, and two for each minimum and maximum.",
    errors: [unsafeSum],
    parameters: [readOptions],
    result: `Promise<${result}>`,
    call: `aggregate({ ...options, ${options} })`,
  };
}

/**
 * Returns `create`, `update`, `upsert` and `delete`, and the methods that write many rows.
 *
 * @param referrers the relations through which other rows refer to rows of the model.
 * @param data the types of the data of `create` and `update`.
 */
export function writeMethods(
  model: CompiledModel,
  names: ModelNames,
  types: ModelTypes,
  referrers: readonly BelongsTo[],
  data: WriteData,
): Method[] {
  const key = primaryKeyParameters(model, names, types);
  const [id] = model.primaryKey;
  const generated = model.generatesId ? ` and, if it is absent, a ULID as \`${id}\`` : "";
  const { create, update } = writeErrors(model);
  const fields = fieldList(model.primaryKey);
  const upsert = upsertData(model, names, types, model.primaryKey, data);
  const filter = `filter: (row: ${names.row}) => boolean`;
  return [
    {
      name: "create",
      description: `Creates a row and returns it with its defaults${generated}. One commit.`,
      errors: create,
      parameters: [`data: ${data.create}`, createOptions],
      result: "Promise<Row>",
      call: "create({ ...options, data })",
    },
    {
      name: "createMany",
      description:
        "Creates rows and returns the result of each. A commit contains about 100 rows. With `atomic: true`, all rows are created in one commit, or none. With `skipDuplicates: true`, rows whose primary key or unique values exist are left out and counted in `skipped`.",
      errors: createManyErrors(model),
      parameters: [
        `data: readonly ${names.create}[]`,
        optionsOf("atomic?: boolean | undefined", "skipDuplicates?: boolean | undefined", expireIn),
      ],
      result: "Promise<CreatedMany<Row>>",
      call: "createMany({ ...options, data })",
    },
    {
      name: "update",
      description: `Changes fields of a row and returns the changed row. ${oneReadAndCommit}`,
      errors: [notFound, ...update, ...versionConflict],
      parameters: [...key.declarations, `data: ${data.update}`, updateOptions],
      result: "Promise<Row>",
      call: `update({ ...options, where: ${key.where}, data })`,
    },
    {
      name: "upsert",
      description: `Changes the row with this ${fields}, or creates it if it does not exist, and returns it. A new row gets this ${fields}${leftOutText(model, upsert.filledIn)}. ${oneReadAndCommit}`,
      errors: upsertErrors(model, fields),
      parameters: [...key.declarations, upsert.parameter, updateOptions],
      result: "Promise<Row>",
      call: `upsert({ ...options, ...data, where: ${key.where} })`,
    },
    {
      name: "delete",
      description: `${deletionText(model)} and returns it as it was. ${deleteCostText(referrers)}`,
      errors: [notFound, ...referencedErrors(referrers), staleSchema, ...versionConflict],
      parameters: [...key.declarations, deleteOptions],
      result: "Promise<Row>",
      call: `delete({ ...options, where: ${key.where} })`,
    },
    ...deletedMethods(model, key, fields),
    ...logMethods(model, names, key, fields),
    {
      name: "updateMany",
      description: `Changes the rows that a filter selects, as \`update\` does. Reads all rows. ${resultOfEach}`,
      parameters: [filter, `data: ${names.update}`, `options?: BatchOptions & { ${expireIn} }`],
      result: manyRows,
      call: "updateMany({ ...options, filter, data })",
    },
    {
      name: "deleteMany",
      description: `Deletes the rows that a filter selects, as \`delete\` does. Reads all rows. ${resultOfEach}`,
      parameters: [filter, "options?: BatchOptions"],
      result: manyRows,
      call: "deleteMany({ ...options, filter })",
    },
  ];
}

/**
 * Returns the end of a sentence that names the primary key: the fields of the key that `create` of
 * an upsert may leave out.
 */
function leftOutText({ primaryKey }: CompiledModel, filledIn: readonly string[]): string {
  if (filledIn.length === 0) return "";
  if (filledIn.length === primaryKey.length) return ", which `create` can leave out";
  return `, of which \`create\` can leave out ${fieldList(filledIn)}`;
}

function deletionText({ softDelete }: CompiledModel): string {
  if (softDelete === undefined) return "Deletes a row";
  return `Marks a row as deleted in \`${softDelete}\`, which hides it,`;
}

function deleteCostText(referrers: readonly BelongsTo[]): string {
  if (referrers.length === 0) {
    return oneReadAndCommit;
  }
  if (referrers.every(({ onDelete }) => onDelete === "restrict")) {
    return `One read, another for each relation to it, and one commit, ${moreIfContended}.`;
  }
  return "Rows that refer to it are deleted or cleared of the reference, as their relations define. It reads and writes these rows too, in several commits if there are many.";
}

function referencedErrors(referrers: readonly BelongsTo[]): string[] {
  // A row that is deleted with it may have referrers of its own, which may forbid the deletion.
  const mayForbid = referrers.some(({ onDelete }) => onDelete !== "setNull");
  return mayForbid ? ["{RowReferencedError} if a row that refers to it prevents this."] : [];
}
