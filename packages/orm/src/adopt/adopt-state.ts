import type { Kv, KvKey } from "@keywright/core";
import { keyText } from "../indexes/key-text.js";
import { type CompiledModel, ownPrefix } from "../model/compiled-model.js";
import type { BrokenEntry, FailedRow } from "./adopt-result.js";
import type { SourceLayout, SourceReader } from "./source/source-layout.js";

/** Where the adoption of a model stands: `["__keywright", "adopting", "users"]`. */
export interface AdoptState {
  readonly format: 2;
  /** Tells the place in the source from others. */
  readonly source: string;
  /** The first document that became a row, which tells the source from others; null before it. */
  readonly origin: SourceOrigin | null;
  /**
   * Documents come first, then the index entries of the source. Done for this run, and ended where the run came to its end:
   * the next one tries those that failed.
   */
  readonly stage: "rows" | "entries" | "done" | "ended";
  /**
   * The first one goes through all documents, the others through those that failed in the one before: as long as rows get in
   * to which others of them refer, and in each run that follows.
   */
  readonly pass: number;
  /** How many documents failed in the pass before, and how many of them have been tried again. */
  readonly toRetry: number;
  readonly retried: number;
  /** The source's index entries have been looked at, in this run or an earlier one. */
  readonly isChecked: boolean;
  /** Which of the layout's indexes is looked at. */
  readonly index: number;
  /** The last key that was looked at. */
  readonly after: KvKey | null;
  readonly rows: number;
  /** Index entries that were looked at. */
  readonly entries: number;
  readonly adopted: number;
  readonly skipped: number;
  readonly failedCount: number;
  readonly brokenCount: number;
  /** Rows that were adopted in this pass, and those that wait for one of the same model. */
  readonly adoptedInPass: number;
  readonly waiting: number;
}

/** A document as it was when it became a row. */
export interface SourceOrigin {
  readonly key: KvKey;
  readonly versionstamp: string;
}

/** A state with the reports that go with it, the first hundred of each kind. */
export interface AdoptRecord {
  readonly state: AdoptState;
  readonly failed: readonly FailedRow[];
  readonly brokenEntries: readonly BrokenEntry[];
}

/** So many failed documents, and so many broken entries, are reported. */
export const reported = 100;

/** Where the states of all models are. */
export const adoptingKey: KvKey = [ownPrefix, "adopting"];

/** Where the state of a model is; its reports are below. */
export function stateKey(model: CompiledModel): KvKey {
  return [...adoptingKey, model.prefix];
}

/** Where a report is: they are entries of their own, for together they may be more than one value holds. */
export function reportKey(
  model: CompiledModel,
  kind: "failed" | "broken",
  position: number,
): KvKey {
  return [...stateKey(model), kind, position];
}

/** Where the keys are, in the source, of the documents that failed in a pass. */
export function failedKeysPrefix(model: CompiledModel, pass: number): KvKey {
  return [...allFailedKeysPrefix(model), pass];
}

/** The same of all passes. */
export function allFailedKeysPrefix(model: CompiledModel): KvKey {
  return [...stateKey(model), "again"];
}

/** The state that tries again what failed in the pass before. */
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

/** A record of nothing done yet. */
export function firstRecord(layout: SourceLayout): AdoptRecord {
  const state: AdoptState = {
    format: 2,
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
    failedCount: 0,
    brokenCount: 0,
    adoptedInPass: 0,
    waiting: 0,
  };
  return { state, failed: [], brokenEntries: [] };
}

/**
 * The record of an adoption from the same place of the same source that has not ended with all documents; undefined where there
 * is none. The source is the same where it has the document that became a row first, unchanged, and the key that was looked
 * at last. Where a program that still writes there has changed those, the adoption begins anew.
 */
export async function storedRecord(
  kv: Kv,
  model: CompiledModel,
  layout: SourceLayout,
  reader: SourceReader,
): Promise<AdoptRecord | undefined> {
  const { value: state } = await kv.get<AdoptState>(stateKey(model));
  if (state?.format !== 2 || state.source !== sourceText(layout)) return undefined;
  if (!(await isSameSource(state, reader))) return undefined;
  const failed = await reports<FailedRow>(kv, [...stateKey(model), "failed"]);
  const brokenEntries = await reports<BrokenEntry>(kv, [...stateKey(model), "broken"]);
  return { state, failed, brokenEntries };
}

async function isSameSource({ origin, after }: AdoptState, reader: SourceReader): Promise<boolean> {
  // No document has become a row: nothing is lost by a new beginning.
  if (origin === null) return false;
  const [first, last] = await reader.getMany([origin.key, after ?? origin.key]);
  return first?.versionstamp === origin.versionstamp && last !== undefined;
}

async function reports<T>(kv: Kv, prefix: KvKey): Promise<T[]> {
  const found: T[] = [];
  for await (const { value } of kv.list<T>({ prefix })) found.push(value);
  return found;
}

function sourceText({ rows, indexes }: SourceLayout): string {
  return [rows, ...indexes].map(keyText).join("; ");
}
