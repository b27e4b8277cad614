import type { CompiledIndex } from "@keywright/orm/codegen";
import { fieldList } from "./parts/field-list.js";
import type { Method } from "./parts/method.js";
import {
  describeFields,
  exactValues,
  indexRemarks,
  notReady,
  notReadyInStream,
  type Subject,
} from "./parts/subject.js";
import { upsertData } from "./parts/upsert-data.js";
import {
  deleteOptions,
  moreIfContended,
  notFound,
  readOptions,
  updateOptions,
  upsertErrors,
} from "./parts/write-signature.js";

/** Returns the methods for the one row that has the values of a unique index. */
export function uniqueMethods(subject: Subject, index: CompiledIndex): Method[] {
  const { suffix } = subject;
  const { declarations, query } = exactValues(subject);
  const key = describeFields(subject);
  const row = `row with this ${key}`;
  const reads = index.store === "copy" ? "One read." : "Two reads.";
  return [
    {
      name: `findBy${suffix}`,
      description: [
        `Returns the ${row}, or null if there is none.`,
        ...indexRemarks(subject),
        reads,
      ].join(" "),
      errors: notReady(subject),
      parameters: [...declarations, readOptions],
      result: "Promise<Row | null>",
      call: `findUnique({ ...options, ${query} })`,
    },
    {
      name: `findBy${suffix}OrThrow`,
      description: `Returns the ${row}. ${reads}`,
      errors: [notFound, ...notReady(subject)],
      parameters: [...declarations, readOptions],
      result: "Promise<Row>",
      call: `findUniqueOrThrow({ ...options, ${query} })`,
    },
    {
      name: `watchBy${suffix}`,
      description: `Returns a stream of the ${row}: the current row, then the row after each change. It is null while there is none. Four reads each time.`,
      errors: notReadyInStream(subject),
      parameters: [...declarations, readOptions],
      result: "ReadableStream<Row | null>",
      call: `watch({ ...options, ${query} })`,
    },
    {
      name: `updateBy${suffix}`,
      description: `Changes the ${row} as \`update\` does. One read more.`,
      errors: [...notReady(subject), "the errors of `update`."],
      parameters: [...declarations, `data: ${subject.data.update}`, updateOptions],
      result: "Promise<Row>",
      call: `update({ ...options, ${query}, data })`,
    },
    // A partial index may not contain the row that an upsert creates.
    ...(index.where === undefined ? [upsertMethod(subject, index)] : []),
    {
      name: `deleteBy${suffix}`,
      description: `Deletes the ${row} as \`delete\` does. One read more.`,
      errors: [...notReady(subject), "the errors of `delete`."],
      parameters: [...declarations, deleteOptions],
      result: "Promise<Row>",
      call: `delete({ ...options, ${query} })`,
    },
  ];
}

function upsertMethod(subject: Subject, index: CompiledIndex): Method {
  const { model, suffix, names, types } = subject;
  const { declarations, query } = exactValues(subject);
  const keyFieldNames = index.parts.flatMap(({ field, compute }, position) =>
    compute === undefined && index.each !== position ? [field] : [],
  );
  const { parameter, filledIn } = upsertData(model, names, types, keyFieldNames, subject.data);
  const key = describeFields(subject);
  return {
    name: `upsertBy${suffix}`,
    description: [
      `Changes the row with this ${key}, or creates one if there is none, and returns it.`,
      ...(filledIn.length > 0 ? [`\`create\` can leave out ${fieldList(filledIn)}.`] : []),
      `One or two reads and one commit, ${moreIfContended}.`,
    ].join(" "),
    errors: [...notReady(subject), ...upsertErrors(model, key)],
    parameters: [...declarations, parameter, updateOptions],
    result: "Promise<Row>",
    call: `upsert({ ...options, ...data, ${query} })`,
  };
}
