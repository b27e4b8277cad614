import type { CompiledIndex, CompiledModel } from "@keywright/orm";
import { NameUnusableError } from "../errors/codegen-errors.js";
import { pascalCase, propertyName } from "../schema/identifiers.js";
import { keyType, type ModelTypes } from "../schema/model-types.js";
import { fieldList } from "./field-list.js";
import { listErrors } from "./list-errors.js";
import type { Method } from "./method.js";
import type { ModelNames } from "./model-names.js";
import { parameterNames } from "./parameter-names.js";
import { updateOptions, upsertData, versionConflict, writeErrors } from "./write-signature.js";

/**
 * The methods that go through an index: `findByEmail`, `watchByEmail` and `upsertByEmail` where it is unique, `listByEmail`,
 * `watchByColor` where it is not, and `countByColor` where it keeps counts.
 */
export function indexMethods(
  model: CompiledModel,
  index: CompiledIndex,
  names: ModelNames,
  types: ModelTypes,
): Method[] {
  const suffix = methodSuffix(model, index);
  const fields = index.parts.map(({ field }, position) => ({
    name: field,
    type: partType(index, position, names, types),
  }));
  const parameters = parameterNames(index.fields, `index ${index.name} of model ${model.name}`);
  const subject: Subject = { model, index, suffix, names, fields, parameters };
  const count = index.counted ? [countMethod(subject)] : [];
  return index.unique
    ? [...uniqueMethods(subject), listMethod(subject), ...count]
    : [listMethod(subject), watchMethod(subject), ...count];
}

/** What methods are written for. */
interface Subject {
  readonly model: CompiledModel;
  readonly index: CompiledIndex;
  /** Behind `findBy`. */
  readonly suffix: string;
  readonly names: ModelNames;
  readonly fields: readonly KeyField[];
  /** The names of the fields as parameters. */
  readonly parameters: readonly string[];
}

/** The methods for the one row that has some values. */
function uniqueMethods(subject: Subject): Method[] {
  const { model, index, suffix, names } = subject;
  const { declarations, call } = exactValues(subject);
  const row = `row with this ${described(index)}`;
  const reads = index.store === "copy" ? "One read." : "Two reads.";
  return [
    {
      name: `findBy${suffix}`,
      description: sentences(
        `The ${row}, null where there is none.`,
        ...normalization(index),
        reads,
      ),
      errors: [notReady(index)],
      parameters: declarations,
      result: `Promise<${names.row} | null>`,
      call: `findByIndex(${call})`,
    },
    {
      name: `watchBy${suffix}`,
      description: `The ${row}, now and after each change; null while there is none.`,
      errors: [],
      parameters: declarations,
      result: `ReadableStream<${names.row} | null>`,
      call: `watchRowByIndex(${call})`,
    },
    {
      name: `upsertBy${suffix}`,
      description: `Changes the ${row}, or creates one where there is none, and returns it.`,
      errors: [...writeErrors(model).create, ...versionConflict],
      parameters: [...declarations, upsertData(names), updateOptions(model)],
      result: `Promise<${names.row}>`,
      call: `upsertByIndex(${call}, data, options)`,
    },
  ];
}

function countMethod(subject: Subject): Method {
  const { declarations, call } = exactValues(subject);
  return {
    name: `countBy${subject.suffix}`,
    description: `How many rows there are with this ${described(subject.index)}. One read.`,
    errors: [notReady(subject.index)],
    parameters: declarations,
    result: "Promise<number>",
    call: `countByIndex(${call})`,
  };
}

/** A value for each field of an index, as parameters and as a table takes them. */
function exactValues({ index, fields, parameters }: Subject): {
  readonly declarations: readonly string[];
  readonly call: string;
} {
  return {
    declarations: fields.map(({ type }, position) => `${parameters[position]}: ${type}`),
    call: `${JSON.stringify(index.name)}, [${parameters.join(", ")}]`,
  };
}

/** A field of an index and the type of its values. */
interface KeyField {
  readonly name: string;
  readonly type: string;
}

/** The type of the values that a part of an index's key is looked up by. */
function partType(
  index: CompiledIndex,
  position: number,
  names: ModelNames,
  types: ModelTypes,
): string {
  const { field = "", compute } = index.parts[position] ?? {};
  // What a function makes of a row is known to the compiler alone.
  if (compute !== undefined) return "KeyValue";
  if (index.each !== position) return keyType(types.row, field, names.row);
  return `NonNullable<${names.row}[${JSON.stringify(field)}]>[number]`;
}

function listMethod(subject: Subject): Method {
  const { index, suffix, names } = subject;
  const { which, parameter, call } = listedRows(subject);
  return {
    name: `listBy${suffix}`,
    description: sentences(
      `The rows ${which}: awaited a page, with \`for await\` one after the other; \`{}\` for every row that the index holds.`,
      ...partiality(index),
      orderText(index),
      ...normalization(index),
      index.store === "copy"
        ? "One read for each row: its index entry, which holds it."
        : "Two reads for each row: its index entry and the row itself.",
    ),
    errors: [notReady(index), ...listErrors],
    parameters: [parameter, "options?: ListOptions"],
    result: `RowQuery<${names.row}>`,
    call: `listByIndex(${call}, options)`,
  };
}

function watchMethod(subject: Subject): Method {
  const { index, suffix, names } = subject;
  const { parameter, call } = listedRows(subject);
  return {
    name: `watchBy${suffix}`,
    description: `The rows of \`listBy${suffix}\`, now and after each change that affects them.`,
    errors: [
      notReady(index),
      "{LiveQueryUnavailableError} in the stream, where the database does not tell of changes.",
    ],
    parameters: [parameter, "options?: ListOptions"],
    result: `ReadableStream<readonly ${names.row}[]>`,
    call: `watchByIndex(${call}, options)`,
  };
}

/** What a list takes: one value or range, or an object of several. */
function listedRows({ index, fields, parameters }: Subject): {
  readonly which: string;
  readonly parameter: string;
  readonly call: string;
} {
  const name = JSON.stringify(index.name);
  const [field] = fields;
  if (fields.length > 1 || field === undefined) {
    const values = fields.map((key) => memberAccess("where", key.name)).join(", ");
    return {
      which: `with this ${described(index)} (values for the first of them, the last of which may be bounds)`,
      parameter: `where: ${whereType(fields)}`,
      call: `${name}, [${values}]`,
    };
  }
  return {
    which: `with this ${described(index)}, or within these bounds`,
    parameter: `${parameters[0]}: ${orRange(field.type)}`,
    call: `${name}, [${parameters[0]}]`,
  };
}

/** Values for the first fields of a compound index, then one value or range: one alternative for each field to end at. */
function whereType(fields: readonly KeyField[]): string {
  const alternatives = fields.map((last, position) => {
    const members = fields.map(({ name, type }, at) => {
      const property = propertyName(name);
      if (at < position) return `${property}: ${type};`;
      if (at > position) return `${property}?: undefined;`;
      // A value alone for any but the last field is the next alternative, with no condition on the fields behind it.
      const isLast = position === fields.length - 1;
      return `${property}?: ${isLast ? orRange(last.type) : `RangeFilter<${last.type}>`} | undefined;`;
    });
    return `{ ${members.join(" ")} }`;
  });
  return alternatives.join(" | ");
}

function orRange(type: string): string {
  return `${type} | RangeFilter<${type}>`;
}

function memberAccess(object: string, member: string): string {
  const property = propertyName(member);
  return property === member ? `${object}.${member}` : `${object}[${property}]`;
}

function sentences(...all: readonly string[]): string {
  return all.join(" ");
}

/** The fields of an index in a comment: of an array it is about its elements. */
function described({ fields, each }: CompiledIndex): string {
  const element = each === undefined ? undefined : fields[each];
  if (element === undefined) return fieldList(fields);
  const others = fields.filter((field) => field !== element);
  return [`element of \`${element}\``, ...(others.length > 0 ? [fieldList(others)] : [])].join(
    ", ",
  );
}

function partiality({ where }: CompiledIndex): string[] {
  return where === undefined ? [] : ["It holds some of the rows only."];
}

function orderText({ parts }: CompiledIndex): string {
  const descending = parts.filter((part) => part.descending).map(({ field }) => field);
  if (descending.length === 0) return "In the order of the index.";
  return `In the order of the index, which has ${fieldList(descending)} from the last value to the first.`;
}

function normalization({ fields, normalize }: CompiledIndex): string[] {
  return normalize === undefined ? [] : [`The ${fieldList(fields)} is normalized as in the index.`];
}

function notReady(index: CompiledIndex): string {
  return `{IndexNotReadyError} where \`${index.name}\` is not built yet.`;
}

/** `byCityId` → `CityId`. */
function methodSuffix(model: CompiledModel, index: CompiledIndex): string {
  const name = pascalCase(index.name);
  if (name === "") {
    throw new NameUnusableError(index.name, `an index of model ${JSON.stringify(model.name)}`);
  }
  return /^By(?=[^\p{Ll}])/u.test(name) ? name.slice(2) : name;
}
