import type { Kv, KvKey } from "@keywright/core";
import { keyText } from "../indexes/key-text.js";
import { type CompiledModel, ownPrefix } from "../model/compiled-model.js";
import type { BrokenEntry, FailedRow } from "./adopt-result.js";
import type { SourceLayout } from "./source-layout.js";

/** Where the adoption of a model stands: `["__keywright", "adopting", "users"]`. */
export interface AdoptState {
  readonly format: 1;
  /** Tells the place in the source from others. */
  readonly source: string;
  /** Documents come first, then the index entries of the source. */
  readonly stage: "rows" | "entries" | "done";
  /** How often the documents are gone through: again as long as rows get in to which others of them refer. */
  readonly pass: number;
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

/** A record of nothing done yet. */
export function firstRecord(layout: SourceLayout): AdoptRecord {
  const state: AdoptState = {
    format: 1,
    source: sourceText(layout),
    stage: "rows",
    pass: 1,
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

/** The record of an adoption from the same place that has not ended; undefined where there is none. */
export async function storedRecord(
  kv: Kv,
  model: CompiledModel,
  layout: SourceLayout,
): Promise<AdoptRecord | undefined> {
  const { value: state } = await kv.get<AdoptState>(stateKey(model));
  if (state?.format !== 1 || state.source !== sourceText(layout)) return undefined;
  const failed = await reports<FailedRow>(kv, [...stateKey(model), "failed"]);
  const brokenEntries = await reports<BrokenEntry>(kv, [...stateKey(model), "broken"]);
  return { state, failed, brokenEntries };
}

async function reports<T>(kv: Kv, prefix: KvKey): Promise<T[]> {
  const found: T[] = [];
  for await (const { value } of kv.list<T>({ prefix })) found.push(value);
  return found;
}

function sourceText({ rows, indexes }: SourceLayout): string {
  return [rows, ...indexes].map(keyText).join("; ");
}
