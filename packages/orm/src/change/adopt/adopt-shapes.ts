import {
  count,
  flag,
  is,
  key,
  keyPart,
  listOf,
  nullable,
  object,
  optional,
  plainObject,
  recordOf,
  text,
} from "../../model/shape.js";
import type { SystemShape } from "../../state/catalog/system-shapes.js";

const adoptAgain = "delete it, and adopt again";

/** A state of an earlier format may have other fields. The reader does not use it. */
export const adoptStateShape: SystemShape = {
  problemOf: (value) => {
    const problem = object({ format: count })(value);
    if (problem !== undefined) return problem;
    return (value as { readonly format: number }).format === 3 ? adoptState(value) : undefined;
  },
  remedy: adoptAgain,
};

const adoptState = object({
  source: text,
  origin: nullable(object({ key, versionstamp: text })),
  stage: is((value) => ["rows", "entries", "done", "ended"].includes(value as string)),
  pass: count,
  toRetry: count,
  retried: count,
  isChecked: flag,
  index: count,
  after: nullable(key),
  rows: count,
  entries: count,
  adopted: count,
  skipped: count,
  deleted: count,
  leftBehind: recordOf(count),
  failedCount: count,
  brokenCount: count,
  adoptedInPass: count,
  waiting: count,
});

const id = is((value) => keyPart(value) === undefined || key(value) === undefined);

export const adoptFailureShape: SystemShape = {
  problemOf: object({ id, reason: text, code: optional(text), issues: listOf(plainObject) }),
  remedy: adoptAgain,
};

export const brokenEntryShape: SystemShape = {
  problemOf: object({ key, kind: text, id: optional(id) }),
  remedy: adoptAgain,
};

export const adoptedMarkShape: SystemShape = {
  problemOf: object({ key, versionstamp: text }),
  remedy: adoptAgain,
};

/** The key of a document that is to be adopted again. */
export const sourceKeyShape: SystemShape = { problemOf: key, remedy: adoptAgain };
