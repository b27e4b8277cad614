import { systemPrefix } from "../../model/compiled-model.js";
import {
  count,
  date,
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
  type Shape,
  text,
} from "../../model/shape.js";

/** An entry that only Keywright writes: its shape, and what to do if it is damaged. */
export interface SystemShape {
  readonly problemOf: Shape;
  readonly remedy: string;
}

const cursor = nullable(key);

const states = [
  "absent",
  "write-only",
  "verifying",
  "unique-pending",
  "readable",
  "disabled",
  "dropping",
];
const state = is((value) => states.includes(value as string));

const traits = object({
  descending: optional(listOf(text)),
  descendingOrder: optional(text),
  normalized: optional(listOf(text)),
  normalizers: optional(recordOf(listOf(text))),
  each: optional(text),
  where: optional(plainObject),
  partial: optional(flag),
  unmarked: optional(text),
  computed: optional(flag),
  value: optional(is((value) => value === "copy" || listOf(text)(value) === undefined)),
});
/**
 * The first part of keys of rows or entries. If it were that of records, a removal would be too.
 */
const place = is((value) => typeof value === "string" && value !== systemPrefix);

const code = object({
  where: optional(text),
  key: optional(text),
  normalize: optional(recordOf(text)),
});

const placedIndex = {
  state,
  prefix: place,
  fields: listOf(text),
  unique: flag,
  normalized: flag,
  traits: optional(traits),
  functions: optional(text),
  code: optional(code),
  sameFunctions: optional(listOf(object({ functions: optional(text), code: optional(code) }))),
  place: optional(place),
};
const storedIndex = object({
  ...placedIndex,
  next: optional(object(placedIndex)),
  leaving: optional(object(placedIndex)),
  leftPlaces: optional(listOf(place)),
  earlier: optional(listOf(text)),
});
const transform = { id: text, from: text, removes: optional(listOf(text)) };

const knownCatalog = object({
  name: optional(text),
  place: optional(place),
  indexes: recordOf(storedIndex),
  counters: optional(recordOf(state)),
  counterBuilds: optional(recordOf(count)),
  schema: optional(object({ hash: text, accepts: listOf(text) })),
  relations: optional(listOf(text)),
  unfilled: optional(listOf(text)),
  transform: optional(object({ ...transform, earlier: optional(listOf(object(transform))) })),
  otherLayout: optional(object({ primaryKey: listOf(text), place })),
});

const restore = "restore it from a backup";
const runAgain = "delete it, and run migrate again";

/** A later format may have other fields. The reader refuses it with an error of its own. */
export const catalogShape: SystemShape = {
  problemOf: (value) => {
    const problem = object({ format: count })(value);
    if (problem !== undefined) return problem;
    const { format } = value as { readonly format: number };
    return [0, 1, 2, 3].includes(format) ? knownCatalog(value) : undefined;
  },
  remedy: restore,
};

const fields = recordOf(object({ schema: plainObject, optional: flag, defaulted: flag }));

export const rowManifestShape: SystemShape = {
  problemOf: object({
    hash: text,
    primaryKey: listOf(text),
    fields,
    left: optional(fields),
    functions: optional(recordOf(text)),
  }),
  remedy: restore,
};

const unindexedRows = object({
  count,
  rows: listOf(object({ model: text, indexes: listOf(text), reason: text })),
});

export const backfillShape: SystemShape = {
  problemOf: object({
    id: text,
    indexes: listOf(text),
    after: cursor,
    rowsDone: count,
    rowsTotal: optional(count),
    unindexed: optional(unindexedRows),
  }),
  remedy: runAgain,
};

export const unreportedShape: SystemShape = {
  problemOf: object({ indexes: listOf(text), unindexed: unindexedRows }),
  remedy: runAgain,
};

export const countingShape: SystemShape = {
  problemOf: object({ counters: listOf(text), after: cursor, rowsDone: count }),
  remedy: runAgain,
};

export const transformShape: SystemShape = {
  problemOf: object({ id: text, after: cursor, rowsDone: count, rowsTotal: count, failed: count }),
  remedy: runAgain,
};

export const verificationShape: SystemShape = {
  problemOf: object({
    subject: is(isSubject),
    phase: text,
    position: count,
    after: cursor,
    scanned: count,
    rows: count,
    entries: count,
    counts: object({ missing: count, dangling: count, mismatched: count }),
    repaired: count,
    conflicts: optional(count),
    unindexed: optional(unindexedRows),
  }),
  remedy: "delete it, and run verify again",
};

/** A row that cannot enter a unique index because another row has its value. */
export const duplicateShape: SystemShape = {
  problemOf: object({
    model: text,
    index: text,
    value: listOf(keyPart),
    primaryKey: listOf(keyPart),
  }),
  remedy: "delete it, and run verify",
};

export const leaseShape: SystemShape = {
  problemOf: object({
    runner: text,
    process: text,
    host: text,
    takenAt: date,
    expiresAt: date,
    timeToLive: count,
  }),
  remedy: "make sure that no migration is running, and delete it",
};

/** A counter: a 64-bit number, of any implementation of `Deno.KvU64`. */
export const counterShape: SystemShape = {
  problemOf: (value) =>
    typeof value === "object" &&
    value !== null &&
    typeof (value as { readonly value?: unknown }).value === "bigint"
      ? undefined
      : "",
  remedy: "run verify, which builds the counter again",
};

/** When counters no longer include a row that expires, in milliseconds since 1970. */
export const countedUntilShape: SystemShape = {
  problemOf: count,
  remedy: "delete it, and run verify",
};

/** The largest time that an expiry may have, counted from now: see `KvSetOptions.expireIn`. */
const maxLifetime = 8.64e15;

/** When a row expires, in milliseconds since 1970. */
export const expiryShape: SystemShape = {
  problemOf: is((value) => count(value) === undefined && (value as number) <= 2 * maxLifetime),
  remedy: "delete it, and set the expiry of the row again",
};

/** The counters that include a row: a list of a build, a prefix and key parts. */
export const countedRowShape: SystemShape = {
  problemOf: listOf(
    is((value) => {
      if (!Array.isArray(value)) return false;
      const [build, prefix, ...parts] = value as readonly unknown[];
      const isKey =
        text(prefix) === undefined && parts.every((part) => keyPart(part) === undefined);
      return count(build) === undefined && isKey;
    }),
  ),
  remedy: "delete it, and run verify",
};

/** A row that a transform could not change. */
export const failedRowShape: SystemShape = {
  problemOf: object({
    primaryKey: key,
    reason: text,
    issues: optional(listOf(plainObject)),
  }),
  remedy: "delete it, and run migrate again",
};

/** True for the subject of a verification: a list as JSON. */
function isSubject(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return Array.isArray(JSON.parse(value));
  } catch {
    return false;
  }
}
