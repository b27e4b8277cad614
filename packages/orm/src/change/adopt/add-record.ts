import type { AtomicOperation } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import {
  type AdoptRecord,
  type AdoptState,
  maxReports,
  type Reports,
  reportKey,
  stateKey,
} from "./adopt-state.js";

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
