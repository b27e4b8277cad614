import type { CompiledIndex } from "@keywright/orm/codegen";
import { fieldList } from "./parts/field-list.js";
import { awaitOrIterate, listErrors, readLimitInStream } from "./parts/list-errors.js";
import type { Method } from "./parts/method.js";
import {
  describeFields,
  indexRemarks,
  listedRows,
  notReady,
  notReadyInStream,
  plainFields,
  type Subject,
} from "./parts/subject.js";
import { manyRows, orDeleted, resultOfEach } from "./parts/write-signature.js";

/** Returns the methods for the rows that match conditions on an index or on the primary key. */
export function listMethods(subject: Subject): Method[] {
  return [
    listMethod(subject),
    watchMethod(subject),
    countMethod(subject),
    existsMethod(subject),
    ...distinctMethods(subject),
    ...writeMethods(subject),
  ];
}

function listMethod(subject: Subject): Method {
  const { model, index, suffix, names } = subject;
  const { conditions, parameter, query } = listedRows(subject);
  const options = withSkip(index, listOptions(names.row));
  const all = index === undefined ? "all rows" : "all rows in the index";
  return {
    name: `listBy${suffix}`,
    description: [
      `Finds the rows with this ${describeFields(subject)}: ${conditions}. \`{}\` finds ${all}.`,
      ...indexRemarks(subject),
      orderText(subject),
      awaitOrIterate,
      costText(subject),
    ].join(" "),
    errors: [...notReady(subject), ...listErrors],
    parameters: [parameter, index === undefined ? orDeleted(model, options) : options],
    result: "ListQuery<Row>",
    call: `findMany({ ...options, ${query} })`,
  };
}

function watchMethod(subject: Subject): Method {
  const { index, suffix, names } = subject;
  const { parameter, query } = listedRows(subject);
  // The stream of one row by a unique key has the shorter name.
  const isOfOne = index === undefined || index.unique;
  return {
    name: `${isOfOne ? "watchMany" : "watch"}By${suffix}`,
    description: `Returns a stream of the rows of \`listBy${suffix}\`: the current rows, then the rows after each change that affects them. All are read each time.`,
    errors: [
      "{LiveQueryUnavailableError} if the database cannot watch the rows.",
      ...notReadyInStream(subject),
      readLimitInStream,
    ],
    parameters: [parameter, listOptions(names.row)],
    result: "ReadableStream<readonly Row[]>",
    call: `watchMany({ ...options, ${query} })`,
  };
}

function countMethod(subject: Subject): Method {
  const { index, suffix, names } = subject;
  const { parameter, query } = listedRows(subject);
  const cost = index?.counted
    ? "One read for each combination of values, or for each index entry if a field is left out or has a range, or if there is a filter."
    : `One read for each ${index === undefined ? "row" : "index entry"}.`;
  return {
    name: `countBy${suffix}`,
    description: `Returns the number of rows that \`listBy${suffix}\` finds. ${cost}`,
    parameters: [parameter, `options?: CountOptions<${names.row}>`],
    result: "Promise<number>",
    call: `count({ ...options, ${query} })`,
  };
}

function existsMethod(subject: Subject): Method {
  const { suffix, names } = subject;
  const { parameter, query } = listedRows(subject);
  return {
    name: `existsBy${suffix}`,
    description: `Returns true if \`listBy${suffix}\` finds a row. Reads up to the first one.`,
    parameters: [parameter, `options?: CountOptions<${names.row}>`],
    result: "Promise<boolean>",
    call: `exists({ ...options, ${query} })`,
  };
}

/** Returns no method if each row has another value, or if the values are not those of a field. */
function distinctMethods(subject: Subject): Method[] {
  const { model, index, suffix, names, fields } = subject;
  const plain = plainFields(subject);
  const [first] = plain;
  const isUnique = index === undefined || index.unique;
  if (first === undefined || (isUnique && fields.length === 1)) return [];
  const { parameter, query } = listedRows(subject);
  const cost = index?.store === "copy" ? "One read" : "Two reads";
  const value = fields.length === 1 ? fieldList([first.name]) : "one of these fields";
  const name = `distinctBy${suffix}`;
  const values = `Returns the values of ${value} in the rows of \`listBy${suffix}\`, each of them once.`;
  if (fields.length === 1) {
    return [
      {
        name,
        description: `${values} The condition is \`{}\` or a range. ${cost} for each value.`,
        parameters: [parameter, "options?: ValueOptions"],
        result: `Promise<${arrayOf(first.type)}>`,
        call: `distinct({ ...options, ${query}, field: ${JSON.stringify(first.name)} })`,
      },
    ];
  }
  const choice = plain.map(({ name }) => JSON.stringify(name)).join(" | ");
  const isOptional = plain.some(({ name }) => model.optionalFields.has(name));
  const type = isOptional ? `NonNullable<${names.row}[F]>` : `${names.row}[F]`;
  return [
    {
      name,
      description: `${values} \`where\` has a single value for each field before it, and can have a range for the field itself. ${cost} for each value.`,
      typeParameters: `F extends ${choice}`,
      parameters: ["field: F", parameter, "options?: ValueOptions"],
      result: `Promise<${type}[]>`,
      call: `distinct({ ...options, ${query}, field })`,
    },
  ];
}

function writeMethods(subject: Subject): Method[] {
  const { suffix, names } = subject;
  const { parameter, query } = listedRows(subject);
  const found = `the rows that \`listBy${suffix}\` finds`;
  return [
    {
      name: `updateManyBy${suffix}`,
      description: `Changes ${found}, each of them once, as \`update\` does. ${resultOfEach}`,
      parameters: [parameter, `data: ${names.update}`, `options?: ManyUpdateOptions<${names.row}>`],
      result: manyRows,
      call: `updateMany({ ...options, ${query}, data })`,
    },
    {
      name: `deleteManyBy${suffix}`,
      description: `Deletes ${found}, as \`delete\` does. ${resultOfEach}`,
      parameters: [parameter, `options?: ManyDeleteOptions<${names.row}>`],
      result: manyRows,
      call: `deleteMany({ ...options, ${query} })`,
    },
  ];
}

/** Returns the options of a list, which has `skip` if the index can count the rows before. */
function withSkip(index: CompiledIndex | undefined, options: string): string {
  return index?.ranked ? `${options} & Skipping` : options;
}

function listOptions(row: string): string {
  return `options?: ListOptions<${row}>`;
}

function arrayOf(type: string): string {
  return /^[\w.]+$/.test(type) ? `${type}[]` : `(${type})[]`;
}

function orderText({ index }: Subject): string {
  if (index === undefined) return "The rows are in the order of the primary key.";
  const descending = index.parts.filter((part) => part.descending).map(({ field }) => field);
  if (descending.length === 0) return "The rows are in the order of the index.";
  const verb = descending.length === 1 ? "is" : "are";
  return `The rows are in the order of the index, in which ${fieldList(descending)} ${verb} descending.`;
}

function costText({ index }: Subject): string {
  if (index === undefined) return "One read per row.";
  return index.store === "copy"
    ? "One read per row, because its index entry holds it."
    : "Two reads per row: its index entry and the row itself.";
}
