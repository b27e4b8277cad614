import type { CompiledIndex, CompiledModel } from "@keywright/orm/codegen";
import { NameUnusableError } from "../../errors/codegen-errors.js";
import type { ModelNames, NamedModel } from "../../project/model-names.js";
import { pascalCase } from "../../types/identifiers.js";
import type { ModelTypes } from "../../types/model-types.js";
import { type AggregatesText, aggregatesText } from "./aggregates-text.js";
import { fieldList, joinWithAnd } from "./field-list.js";
import { conditionsOn, type KeyField, keyFields } from "./index-conditions.js";
import { awaitOrIterate, listErrors, readLimitInStream, unsafeSum } from "./list-errors.js";
import type { Method } from "./method.js";
import { fieldsObject, parameterNames } from "./parameter-names.js";
import { upsertData } from "./upsert-data.js";
import { moreIfContended, updateOptions, upsertErrors } from "./write-signature.js";

/** A type that the methods of an index take. */
export interface IndexType {
  readonly name: string;
  readonly description: string;
  readonly type: string;
}

/**
 * Returns the methods of an index: `listByEmail`, `countByEmail` if the index is counted, and
 * `aggregateByEmail` if it maintains other aggregates. A unique index also has `findByEmail`,
 * `watchByEmail` and `upsertByEmail`. An index that is not unique also has a `watchByColor` for
 * several rows.
 */
export function indexMethods(
  { model, definition, names }: NamedModel,
  index: CompiledIndex,
  types: ModelTypes,
): Method[] {
  const suffix = methodSuffix(model, index);
  const fields = keyFields(index, names, types);
  const owner = `index ${index.name} of model ${model.name}`;
  const parameters = parameterNames(index.fields, owner, index.each);
  const subject: Subject = { model, index, suffix, names, types, fields, parameters };
  const { min = [], max = [] } = definition.indexes[index.name] ?? {};
  const aggregates = aggregatesText({ sums: index.sums, min, max }, names, types);
  const counts = [
    ...(index.counted ? [countMethod(subject)] : []),
    ...(aggregates === undefined ? [] : [aggregateMethod(subject, aggregates)]),
  ];
  return index.unique
    ? [...uniqueMethods(subject), listMethod(subject), ...counts]
    : [listMethod(subject), watchMethod(subject), ...counts];
}

/**
 * Returns the type that a list by several fields takes, or undefined if the index has one field.
 */
export function indexType(
  model: CompiledModel,
  index: CompiledIndex,
  names: ModelNames,
  types: ModelTypes,
): IndexType | undefined {
  if (index.fields.length < 2) return undefined;
  const suffix = methodSuffix(model, index);
  return {
    name: typeName(names, suffix),
    description: `The conditions of \`listBy${suffix}\`, on the first fields of the index. The last one can be a range.`,
    type: conditionsOn(keyFields(index, names, types)),
  };
}

/** An index and everything that its methods are written from. */
interface Subject {
  readonly model: CompiledModel;
  readonly index: CompiledIndex;
  /** The part of the method names after `findBy`. */
  readonly suffix: string;
  readonly names: ModelNames;
  readonly types: ModelTypes;
  readonly fields: readonly KeyField[];
  /** The names of the parameters for the fields. */
  readonly parameters: readonly string[];
}

/** Returns the methods for the one row that has given values. */
function uniqueMethods(subject: Subject): Method[] {
  const { index, suffix, names } = subject;
  const { declarations, query } = exactValues(subject);
  const row = `row with this ${describeFields(index)}`;
  const reads = index.store === "copy" ? "One read." : "Two reads.";
  return [
    {
      name: `findBy${suffix}`,
      description: [
        `Returns the ${row}, or null if there is none.`,
        ...partialityText(index),
        ...normalizationText(index),
        reads,
      ].join(" "),
      errors: [notReady(index)],
      parameters: declarations,
      result: `Promise<${names.row} | null>`,
      call: `findUnique({ ${query} })`,
    },
    {
      name: `watchBy${suffix}`,
      description: `Returns a stream of the ${row}: the current row, then the row after each change. It is null while there is none. Four reads each time.`,
      errors: [notReadyInStream(index)],
      parameters: declarations,
      result: `ReadableStream<${names.row} | null>`,
      call: `watch({ ${query} })`,
    },
    // A partial index may not contain the row that an upsert creates.
    ...(index.where === undefined ? [upsertMethod(subject)] : []),
  ];
}

function upsertMethod(subject: Subject): Method {
  const { model, index, suffix, names, types } = subject;
  const { declarations, query } = exactValues(subject);
  const keyFieldNames = index.parts.flatMap(({ field, compute }, position) =>
    compute === undefined && index.each !== position ? [field] : [],
  );
  const { parameter, filledIn } = upsertData(model, names, types, keyFieldNames);
  const key = describeFields(index);
  return {
    name: `upsertBy${suffix}`,
    description: [
      `Changes the row with this ${key}, or creates one if there is none, and returns it.`,
      ...(filledIn.length > 0 ? [`\`create\` can leave out ${fieldList(filledIn)}.`] : []),
      `One or two reads and one commit, ${moreIfContended}.`,
    ].join(" "),
    errors: [notReady(index), ...upsertErrors(model, key)],
    parameters: [...declarations, parameter, updateOptions],
    result: `Promise<${names.row}>`,
    call: `upsert({ ...options, ...data, ${query} })`,
  };
}

function countMethod(subject: Subject): Method {
  const { index, suffix } = subject;
  const { parameter, query } = listedRows(subject);
  return {
    name: `countBy${suffix}`,
    description: `Returns the number of rows that \`listBy${suffix}\` finds. One read for each combination of values, or for each index entry if a field is left out or has a range.`,
    errors: [notReady(index)],
    parameters: [parameter],
    result: "Promise<number>",
    call: `count({ ${query} })`,
  };
}

function aggregateMethod(subject: Subject, { options, result }: AggregatesText): Method {
  const { index, suffix } = subject;
  const { parameter, query } = listedRows(subject);
  return {
    name: `aggregateBy${suffix}`,
    description: `Returns the number of rows that \`listBy${suffix}\` finds, and the sums, means, minima and maxima that the index maintains. A value is null if no row has one. Reads depend on the number of combinations of values, not on the number of rows.`,
    errors: [notReady(index), unsafeSum],
    parameters: [parameter],
    result: `Promise<${result}>`,
    call: `aggregate({ ${query}, ${options} })`,
  };
}

/** Returns one value for each field of an index, as parameters and as a query. */
function exactValues({ index, fields, parameters }: Subject): {
  readonly declarations: readonly string[];
  readonly query: string;
} {
  return {
    declarations: fields.map(({ type }, position) => `${parameters[position]}: ${type}`),
    query: `index: ${JSON.stringify(index.name)}, where: ${fieldsObject(index.fields, parameters)}`,
  };
}

function listMethod(subject: Subject): Method {
  const { index, suffix, names } = subject;
  const { conditions, parameter, query } = listedRows(subject);
  return {
    name: `listBy${suffix}`,
    description: [
      `Finds the rows with this ${describeFields(index)}: ${conditions}. \`{}\` finds all rows in the index.`,
      ...partialityText(index),
      ...normalizationText(index),
      orderText(index),
      awaitOrIterate,
      index.store === "copy"
        ? "One read per row, because its index entry holds it."
        : "Two reads per row: its index entry and the row itself.",
    ].join(" "),
    errors: [notReady(index), ...listErrors],
    parameters: [parameter, "options?: ListOptions"],
    result: `RowQuery<${names.row}>`,
    call: `findMany({ ...options, ${query} })`,
  };
}

function watchMethod(subject: Subject): Method {
  const { index, suffix, names } = subject;
  const { parameter, query } = listedRows(subject);
  return {
    name: `watchBy${suffix}`,
    description: `Returns a stream of the rows of \`listBy${suffix}\`: the current rows, then the rows after each change that affects them. All are read each time.`,
    errors: [
      "{LiveQueryUnavailableError} if the database cannot watch the rows.",
      notReadyInStream(index),
      readLimitInStream,
    ],
    parameters: [parameter, "options?: ListOptions"],
    result: `ReadableStream<readonly ${names.row}[]>`,
    call: `watchMany({ ...options, ${query} })`,
  };
}

/**
 * Returns the parameter of a list: a condition on one field, or an object with conditions on
 * several fields.
 */
function listedRows({ index, suffix, names, fields, parameters }: Subject): {
  /** The kinds of conditions that the parameter can be. */
  readonly conditions: string;
  readonly parameter: string;
  readonly query: string;
} {
  const indexOption = `index: ${JSON.stringify(index.name)}`;
  const [field] = fields;
  if (fields.length > 1 || field === undefined) {
    return {
      conditions:
        "for each field a value or several values, `{ in: [...] }`. The last fields can be left out, and the last condition can be a range",
      parameter: `where: ${typeName(names, suffix)}`,
      query: `${indexOption}, where`,
    };
  }
  return {
    conditions: "a value, several values, `{ in: [...] }`, or a range",
    parameter: `${parameters[0]}: Condition<${field.type}>`,
    query: `${indexOption}, where: ${fieldsObject(index.fields, parameters)}`,
  };
}

/** Returns the fields of an index for a comment. An array is described by its elements. */
function describeFields({ fields, each }: CompiledIndex): string {
  const texts = fields.map((field) => `\`${field}\``);
  if (each === undefined) return joinWithAnd(texts);
  const [array = ""] = texts.splice(each, 1);
  return joinWithAnd([...texts, `element of ${array}`]);
}

function partialityText({ where }: CompiledIndex): string[] {
  return where === undefined ? [] : ["The index holds only some of the rows."];
}

function orderText({ parts }: CompiledIndex): string {
  const descending = parts.filter((part) => part.descending).map(({ field }) => field);
  if (descending.length === 0) return "The rows are in the order of the index.";
  const verb = descending.length === 1 ? "is" : "are";
  return `The rows are in the order of the index, in which ${fieldList(descending)} ${verb} descending.`;
}

function normalizationText({ parts }: CompiledIndex): string[] {
  const fields = parts.filter((part) => part.normalize !== undefined).map(({ field }) => field);
  const verb = fields.length === 1 ? "is" : "are";
  return fields.length === 0
    ? []
    : [`The ${fieldList(fields)} ${verb} normalized as in the index.`];
}

function notReady(index: CompiledIndex): string {
  return `{IndexNotReadyError} if \`${index.name}\` is not built yet.`;
}

function notReadyInStream(index: CompiledIndex): string {
  return `{IndexNotReadyError} in the stream, if \`${index.name}\` is not built yet.`;
}

/** `UserByTeamAndScore`. */
function typeName({ base }: ModelNames, suffix: string): string {
  return `${base}By${suffix}`;
}

/** `byCityId` → `CityId`. */
function methodSuffix(model: CompiledModel, index: CompiledIndex): string {
  const name = pascalCase(index.name);
  if (name === "") {
    throw new NameUnusableError(index.name, `an index of model ${JSON.stringify(model.name)}`);
  }
  return /^By(?=[^\p{Ll}])/u.test(name) ? name.slice(2) : name;
}
