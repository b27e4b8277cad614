import { isPlainObject } from "../model/is-plain-object.js";

/** Returns the path of the first part that is not valid, or undefined if the value is valid. */
type Shape = (value: unknown) => string | undefined;

/** An entry that only Keywright writes: its shape, and what to do if it is damaged. */
export interface SystemShape {
  readonly problemOf: Shape;
  readonly remedy: string;
}

const is =
  (test: (value: unknown) => boolean): Shape =>
  (value) =>
    test(value) ? undefined : "";

const text = is((value) => typeof value === "string");
const flag = is((value) => typeof value === "boolean");
const count = is((value) => typeof value === "number" && Number.isFinite(value) && value >= 0);
const date = is((value) => value instanceof Date && !Number.isNaN(value.getTime()));

const optional =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined ? undefined : shape(value);

const nullable =
  (shape: Shape): Shape =>
  (value) =>
    value === null ? undefined : shape(value);

const within = (place: string, problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : problem === "" ? place : `${place}.${problem}`;

const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every((element) => shape(element) === undefined) ? undefined : "";

/** The names of a record are not part of a path, because they may be stored values. */
const recordOf =
  (shape: Shape): Shape =>
  (value) =>
    isPlainObject(value) && Object.values(value).every((one) => shape(one) === undefined)
      ? undefined
      : "";

const object =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  (value) => {
    if (!isPlainObject(value)) return "";
    for (const [name, shape] of Object.entries(fields)) {
      const field: unknown = Object.hasOwn(value, name) ? value[name] : undefined;
      const problem = within(name, shape(field));
      if (problem !== undefined) return problem;
    }
    return undefined;
  };

const keyPart = is(
  (value) =>
    ["string", "number", "bigint", "boolean"].includes(typeof value) || value instanceof Uint8Array,
);
const cursor = nullable(listOf(keyPart));

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

const placedIndex = { state, prefix: text, fields: listOf(text), place: optional(text) };
const storedIndex = object({
  ...placedIndex,
  next: optional(object(placedIndex)),
  leaving: optional(object(placedIndex)),
  leftPlaces: optional(listOf(text)),
  replacedBy: optional(text),
  earlier: optional(listOf(text)),
});
const transform = { id: text, from: text };

const knownCatalog = object({
  name: optional(text),
  place: optional(text),
  indexes: recordOf(storedIndex),
  counters: optional(recordOf(state)),
  counterBuilds: optional(recordOf(count)),
  schema: optional(object({ hash: text, accepts: listOf(text) })),
  relations: optional(listOf(text)),
  transform: optional(object({ ...transform, earlier: optional(listOf(object(transform))) })),
  otherLayout: optional(object({ primaryKey: listOf(text), place: text })),
});

const restore = "restore it from a backup";
const runAgain = "delete it, and run migrate again";

/** A later format may have other fields. The reader refuses it with an error of its own. */
export const catalogShape: SystemShape = {
  problemOf: (value) => {
    const problem = object({ format: count })(value);
    if (problem !== undefined) return problem;
    const { format } = value as { readonly format: number };
    return [1, 2, 3].includes(format) ? knownCatalog(value) : undefined;
  },
  remedy: restore,
};

const fields = recordOf(object({ schema: isPlainObjectShape, optional: flag, defaulted: flag }));

export const rowManifestShape: SystemShape = {
  problemOf: object({ hash: text, primaryKey: listOf(text), fields, left: optional(fields) }),
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

function isPlainObjectShape(value: unknown): string | undefined {
  return isPlainObject(value) ? undefined : "";
}

/** True for the subject of a verification: a list as JSON. */
function isSubject(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return Array.isArray(JSON.parse(value));
  } catch {
    return false;
  }
}
