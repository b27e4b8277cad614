import type { TableContext } from "../../state/context/table-context.js";
import type { AdoptedModel } from "./adopt-result.js";
import type { AdoptRun } from "./adopt-run.js";
import { type AdoptRecord, firstRecord, storedRecord } from "./adopt-state.js";
import { ModelAdoption, type ModelSource } from "./model-adoption.js";

/**
 * Adopts the documents of one model in batches, then checks the index entries of the source. The
 * progress is stored in the commit of the rows, so that a run that was stopped or killed resumes
 * there.
 */
export async function adoptModel(
  context: TableContext,
  source: ModelSource,
  run: AdoptRun,
): Promise<AdoptedModel> {
  const { model } = context;
  const stored = run.dryRun
    ? undefined
    : await storedRecord(context.kv, model, source.layout, source.reader);
  const record = stored ?? firstRecord(source.layout);
  // What an adoption from another source has stored does not apply here. `begin` replaces it.
  const adoption = new ModelAdoption(context, source, run, record);
  if (stored === undefined) await adoption.begin();
  else if (stored.state.stage === "ended") await adoption.retry();
  while (adoption.record.state.stage !== "done") {
    if (run.signal?.aborted) return modelResult(model.name, "stopped", adoption.record);
    if (adoption.record.state.stage === "rows") await adoption.nextDocuments();
    else await adoption.nextEntries();
  }
  return modelResult(model.name, "done", adoption.record);
}

export function modelResult(
  model: string,
  status: AdoptedModel["status"],
  { state, failed, brokenEntries }: AdoptRecord,
): AdoptedModel {
  const { rows, adopted, skipped, deleted, failedCount, brokenCount } = state;
  return {
    model,
    status,
    rows,
    adopted,
    skipped,
    deleted,
    failedCount,
    failed,
    brokenCount,
    brokenEntries,
    leftBehind: Object.entries(state.leftBehind).map(([kind, count]) => ({ kind, count })),
  };
}
