import type { AtomicOperation, Kv, KvKey } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { keyText } from "../../model/keys/key-text.js";
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
import {
  readSystemValue,
  type SystemShape,
  systemValue,
} from "../../state/catalog/system-value.js";
import type { AdoptFailure, BrokenEntry } from "./adopt-result.js";
import type { SourceLayout, SourceReader } from "./source/source-layout.js";

/** The progress of the adoption of a model, stored under `["__keywright", "adopting", "users"]`. */
export interface AdoptState {
  readonly format: 3;
  readonly source: string;
  /** The first document that became a row. It identifies the source. Null if there is none yet. */
  readonly origin: SourceOrigin | null;
  /** `"ended"` if the run has ended with failed documents, which the next run tries again. */
  readonly stage: "rows" | "entries" | "done" | "ended";
  /**
   * The first pass reads all documents. Each later pass reads the documents that failed in the pass
   * before. Passes follow in the same run as long as they adopt rows that failed documents may
   * refer to, and each later run begins one.
   */
  readonly pass: number;
  /** How many documents failed in the pass before, and how many of them have been tried again. */
  readonly toRetry: number;
  readonly retried: number;
  /** True if the index entries of the source have been checked, in this run or an earlier one. */
  readonly isChecked: boolean;
  /** The position of the list that is being read: the layout's `indexes`, then its `leaves`. */
  readonly index: number;
  readonly after: KvKey | null;
  readonly rows: number;
  readonly entries: number;
  readonly adopted: number;
  readonly skipped: number;
  readonly deleted: number;
  /** The numbers of entries that the layout does not adopt, by their kind. */
  readonly leftBehind: Readonly<Record<string, number>>;
  readonly failedCount: number;
  readonly brokenCount: number;
  /** How many rows this pass adopted, and how many documents wait for a row of the same model. */
  readonly adoptedInPass: number;
  readonly waiting: number;
}

export interface SourceOrigin {
  readonly key: KvKey;
  readonly versionstamp: string;
}

/** A state with its reports, at most 100 of each kind. */
export interface AdoptRecord {
  readonly state: AdoptState;
  readonly failed: readonly AdoptFailure[];
  readonly brokenEntries: readonly BrokenEntry[];
}

export interface Reports {
  readonly failed?: readonly AdoptFailure[];
  readonly broken?: readonly BrokenEntry[];
}

/** What to do if a record of an adoption is damaged. */
export const adoptAgain = "delete it, and adopt again";

/** A state of an earlier format may have other fields. The reader does not use it. */
const adoptStateShape: SystemShape<AdoptState> = {
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

const adoptFailureShape: SystemShape<AdoptFailure> = {
  problemOf: object({ id, reason: text, code: optional(text), issues: listOf(plainObject) }),
  remedy: adoptAgain,
};

const brokenEntryShape: SystemShape<BrokenEntry> = {
  problemOf: object({ key, kind: text, id: optional(id) }),
  remedy: adoptAgain,
};

/** The maximum number of reported failed documents, and of reported broken entries. */
export const maxReports = 100;

export const adoptingKey: KvKey = [systemPrefix, "adopting"];

/** Returns the key of a model's state. It is also the prefix of the model's reports. */
export function stateKey(model: CompiledModel): KvKey {
  return [...adoptingKey, model.prefix];
}

/** Each report has its own entry, because together they may exceed the size of a value. */
export function reportKey(
  model: CompiledModel,
  kind: "failed" | "broken",
  position: number,
): KvKey {
  return [...stateKey(model), kind, position];
}

/** The prefix of the list of documents that failed in a pass. Its entries hold source keys. */
export function failedKeysPrefix(model: CompiledModel, pass: number): KvKey {
  return [...allFailedKeysPrefix(model), pass];
}

export function allFailedKeysPrefix(model: CompiledModel): KvKey {
  return [...stateKey(model), "again"];
}

export function nextPass(state: AdoptState): AdoptState {
  return {
    ...state,
    stage: "rows",
    pass: state.pass + 1,
    toRetry: state.failedCount,
    retried: 0,
    after: null,
    failedCount: 0,
    adoptedInPass: 0,
    waiting: 0,
  };
}

export function firstRecord(layout: SourceLayout): AdoptRecord {
  const state: AdoptState = {
    format: 3,
    source: sourceText(layout),
    origin: null,
    stage: "rows",
    pass: 1,
    toRetry: 0,
    retried: 0,
    isChecked: false,
    index: 0,
    after: null,
    rows: 0,
    entries: 0,
    adopted: 0,
    skipped: 0,
    deleted: 0,
    leftBehind: {},
    failedCount: 0,
    brokenCount: 0,
    adoptedInPass: 0,
    waiting: 0,
  };
  return { state, failed: [], brokenEntries: [] };
}

/**
 * Adds a state and the reports of a batch to an operation, and returns the record after its commit.
 *
 * @param record the record before.
 * @param operation undefined in a dry run, which stores nothing.
 */
export function addRecord(
  operation: AtomicOperation | undefined,
  model: CompiledModel,
  record: AdoptRecord,
  state: AdoptState,
  { failed = [], broken = [] }: Reports = {},
): AdoptRecord {
  const newFailed = failed.slice(0, maxReports - record.failed.length);
  const newBroken = broken.slice(0, maxReports - record.brokenEntries.length);
  const next: AdoptState = {
    ...state,
    failedCount: state.failedCount + failed.length,
    brokenCount: state.brokenCount + broken.length,
  };
  operation?.set(stateKey(model), next);
  for (const [i, failure] of newFailed.entries()) {
    operation?.set(reportKey(model, "failed", record.failed.length + i), failure);
  }
  for (const [i, entry] of newBroken.entries()) {
    operation?.set(reportKey(model, "broken", record.brokenEntries.length + i), entry);
  }
  return {
    state: next,
    failed: [...record.failed, ...newFailed],
    brokenEntries: [...record.brokenEntries, ...newBroken],
  };
}

/**
 * Returns the record of an unfinished adoption, or of one that ended with failed documents, from
 * the same place in the same source. Returns undefined if there is none. The source is the same if
 * it has the unchanged document that became a row first, and an entry under the last key that was
 * read. If a program that still writes to the source has changed them, the adoption starts from the
 * beginning.
 */
export async function storedRecord(
  kv: Kv,
  model: CompiledModel,
  layout: SourceLayout,
  reader: SourceReader,
): Promise<AdoptRecord | undefined> {
  const state = await readSystemValue(kv, stateKey(model), adoptStateShape, model.name);
  if (state?.format !== 3 || state.source !== sourceText(layout)) return undefined;
  if (!(await isSameSource(state, reader))) return undefined;
  const failed = await reports(kv, model, "failed", adoptFailureShape);
  const brokenEntries = await reports(kv, model, "broken", brokenEntryShape);
  return { state, failed, brokenEntries };
}

async function isSameSource({ origin, after }: AdoptState, reader: SourceReader): Promise<boolean> {
  // No document has become a row, so nothing is lost by starting from the beginning.
  if (origin === null) return false;
  const [first, last] = await reader.getMany([origin.key, after ?? origin.key]);
  return first?.versionstamp === origin.versionstamp && last !== undefined;
}

async function reports<T>(
  kv: Kv,
  model: CompiledModel,
  kind: "failed" | "broken",
  shape: SystemShape<T>,
): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of kv.list({ prefix: [...stateKey(model), kind] }))
    found.push(systemValue(entry, shape, model.name)!);
  return found;
}

function sourceText({ rows, indexes }: SourceLayout): string {
  return [rows, ...indexes].map(keyText).join("; ");
}
