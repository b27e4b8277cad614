import type { CompiledIndex, CompiledModel } from "@keywright/orm";
import { NameUnusableError } from "../../errors/codegen-errors.js";
import type { ModelNames } from "../../project/model-names.js";
import { pascalCase } from "../../types/identifiers.js";
import type { ModelTypes } from "../../types/model-types.js";
import { fieldList } from "./field-list.js";
import { conditionOn, conditionsOn, type KeyField, keyFields } from "./index-conditions.js";
import { listErrors, readLimitInStream } from "./list-errors.js";
import type { Method } from "./method.js";
import { fieldsObject, parameterNames } from "./parameter-names.js";
import { upsertData } from "./upsert-data.js";
import { updateOptions, upsertErrors } from "./write-signature.js";

/** A type that the methods of an index take. */
export interface IndexType {
  readonly name: string;
  readonly description: string;
  readonly type: string;
}

/**
 * Returns the methods of an index: `listByEmail`, and `countByEmail` if the index is counted. A
 * unique index also has `findByEmail`, `watchByEmail` and `upsertByEmail`. An index that is not
 * unique also has a `watchByColor` for several rows.
 */
export function indexMethods(
  model: CompiledModel,
  index: CompiledIndex,
  names: ModelNames,
  types: ModelTypes,
): Method[] {
  const suffix = methodSuffix(model, index);
  const fields = keyFields(index, names, types);
  const owner = `index ${index.name} of model ${model.name}`;
  const parameters = parameterNames(index.fields, owner, index.each);
  const subject: Subject = { model, index, suffix, names, types, fields, parameters };
  const count = index.counted ? [countMethod(subject)] : [];
  return index.unique
    ? [...uniqueMethods(subject), listMethod(subject), ...count]
    : [listMethod(subject), watchMethod(subject), ...count];
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
    description: `What \`listBy${suffix}\` takes: conditions on its first fields, of which the last may be bounds.`,
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
      description: joinSentences(
        `The ${row}, null where there is none.`,
        ...partialityText(index),
        ...normalizationText(index),
        reads,
      ),
      errors: [notReady(index)],
      parameters: declarations,
      result: `Promise<${names.row} | null>`,
      call: `findUnique({ ${query} })`,
    },
    {
      name: `watchBy${suffix}`,
      description: `The ${row}, now and after each change; null while there is none. Four reads each time.`,
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
    description: joinSentences(
      `Changes the row with this ${key}, or creates one with it where there is none, and returns it.`,
      ...(filledIn.length > 0 ? [`\`create\` may leave out ${fieldList(filledIn)}.`] : []),
      "One or two reads and one commit, more where others write the row too.",
    ),
    errors: [notReady(index), ...upsertErrors(model, key)],
    parameters: [...declarations, parameter, updateOptions(model)],
    result: `Promise<${names.row}>`,
    call: `upsert({ ...options, ...data, ${query} })`,
  };
}

function countMethod(subject: Subject): Method {
  const { declarations, query } = exactValues(subject);
  return {
    name: `countBy${subject.suffix}`,
    description: `How many rows there are with this ${describeFields(subject.index)}. One read.`,
    errors: [notReady(subject.index)],
    parameters: declarations,
    result: "Promise<number>",
    call: `count({ ${query} })`,
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
  const { which, parameter, query } = listedRows(subject);
  return {
    name: `listBy${suffix}`,
    description: joinSentences(
      `The rows ${which}: awaited a page, with \`for await\` one after the other; \`{}\` for every row that the index holds.`,
      ...partialityText(index),
      orderText(index),
      ...normalizationText(index),
      index.store === "copy"
        ? "One read for each row: its index entry, which holds it."
        : "Two reads for each row: its index entry and the row itself.",
    ),
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
    description: `The rows of \`listBy${suffix}\`, now and after each change that affects them; read anew each time.`,
    errors: [
      "{LiveQueryUnavailableError} where the database does not tell of changes.",
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
  readonly which: string;
  readonly parameter: string;
  readonly query: string;
} {
  const indexOption = `index: ${JSON.stringify(index.name)}`;
  const [field] = fields;
  if (fields.length > 1 || field === undefined) {
    const last = fields.length - 1;
    const first = { ...index, fields: index.fields.slice(0, last) };
    const end = { fields: index.fields.slice(last), each: index.each === last ? 0 : undefined };
    return {
      which: `with this ${describeFields(first)}, and with this ${describeFields(end)} or within bounds of it`,
      parameter: `where: ${typeName(names, suffix)}`,
      query: `${indexOption}, where`,
    };
  }
  return {
    which: `with this ${describeFields(index)}, with one of several, or within bounds`,
    parameter: `${parameters[0]}: ${conditionOn(field.type)}`,
    query: `${indexOption}, where: ${fieldsObject(index.fields, parameters)}`,
  };
}

function joinSentences(...all: readonly string[]): string {
  return all.join(" ");
}

/** Returns the fields of an index for a comment. For an array it names the elements. */
function describeFields({ fields, each }: Pick<CompiledIndex, "fields" | "each">): string {
  const element = each === undefined ? undefined : fields[each];
  if (element === undefined) return fieldList(fields);
  const others = fields.filter((field) => field !== element);
  return [`element of \`${element}\``, ...(others.length > 0 ? [fieldList(others)] : [])].join(
    ", ",
  );
}

function partialityText({ where }: CompiledIndex): string[] {
  return where === undefined ? [] : ["The index holds some of the rows only."];
}

function orderText({ parts }: CompiledIndex): string {
  const descending = parts.filter((part) => part.descending).map(({ field }) => field);
  if (descending.length === 0) return "In the order of the index.";
  return `In the order of the index, which has ${fieldList(descending)} from the last value to the first.`;
}

function normalizationText({ parts }: CompiledIndex): string[] {
  const fields = parts.filter((part) => part.normalize !== undefined).map(({ field }) => field);
  const verb = fields.length === 1 ? "is" : "are";
  return fields.length === 0
    ? []
    : [`The ${fieldList(fields)} ${verb} normalized as in the index.`];
}

function notReady(index: CompiledIndex): string {
  return `{IndexNotReadyError} where \`${index.name}\` is not built yet.`;
}

function notReadyInStream(index: CompiledIndex): string {
  return `{IndexNotReadyError} in the stream, where \`${index.name}\` is not built yet.`;
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
