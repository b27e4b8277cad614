import type { AtomicOperation } from "@keywright/core";
import { keyText } from "../../../model/keys/key-text.js";
import { currentTime } from "../../../model/rows/time.js";
import { duplicateKey } from "../../../state/catalog/backfill-state.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { viewOf } from "../../../state/context/read-view.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { setUntil } from "../../../state/transaction/buffer/set-until.js";
import { isLimitError } from "../../../state/transaction/limit-error-of.js";
import { changeMarkKeys } from "../../changes/change-marks.js";
import { rowExpireAt } from "../../expiry/row-expiry.js";
import type { Confirmed } from "../../verify/verifier.js";
import type { EntryRepair, Inspection } from "./inspect-entry.js";

const maxRepairs = 100;
/** The row, the entry, and the row that the entry points to. */
const checksPerRepair = 3;

/**
 * Repairs entries, several in each commit, under checks on everything that was read for them. If a
 * check fails, the entries are inspected and repaired one by one. An entry that is right by then is
 * no longer a finding.
 *
 * @returns what was wrong, and whether it was repaired.
 */
export async function repairEntries(
  context: ModelStore,
  run: MigrationRun,
  found: readonly Confirmed<Inspection>[],
): Promise<Inspection[]> {
  const settled: Inspection[] = [];
  // Two more checks are needed: for the catalog and for the lease.
  const byChecks = Math.floor((context.limits.checks - 2) / checksPerRepair);
  const groupSize = Math.max(1, Math.min(maxRepairs, byChecks));
  for (let from = 0; from < found.length; from += groupSize) {
    const group = found.slice(from, from + groupSize);
    const inspections = group.map((one) => one.found);
    // If several rows should have the same unique key, only the first of them can get it.
    const keys = new Set(inspections.map(({ finding }) => keyText(finding.key)));
    if (keys.size === group.length && (await commitRepairs(context, run, inspections))) {
      settled.push(...inspections.map(repaired));
      continue;
    }
    for (const one of group) {
      const inspection = await repairOne(context, run, one);
      if (inspection !== undefined) settled.push(inspection);
    }
  }
  return settled;
}

async function repairOne(
  context: ModelStore,
  run: MigrationRun,
  { readAgain }: Confirmed<Inspection>,
): Promise<Inspection | undefined> {
  for (;;) {
    await context.catalog.reload();
    const inspection = await readAgain();
    if (inspection === undefined || inspection.repair === undefined) return inspection;
    if (await commitRepairs(context, run, [inspection])) return repaired(inspection);
  }
}

/** A row that was only recorded as a duplicate is still not in the index. */
function repaired(inspection: Inspection): Inspection {
  const kind = inspection.repair?.write.kind;
  const isRight = kind === "set" || kind === "delete";
  return { ...inspection, finding: { ...inspection.finding, repaired: isRight } };
}

/** Returns false if a check failed or the repairs are too large for one commit. */
async function commitRepairs(
  context: ModelStore,
  run: MigrationRun,
  inspections: readonly Inspection[],
): Promise<boolean> {
  const { catalog } = context;
  const { snapshot } = catalog;
  snapshot.assertWritable();
  const operation = context.kv.atomic().check(snapshot.check);
  // A writer may just have found no more duplicates. Its commit that makes the index readable fails
  // if the catalog changes in the commit that records one.
  const isRecording = inspections.some(
    ({ index, repair }) =>
      repair?.write.kind === "record" && snapshot.stateOf(index) === "unique-pending",
  );
  if (isRecording) operation.set(snapshot.check.key, snapshot.entry);
  for (const { finding, index, repair } of inspections) {
    if (repair === undefined) continue;
    operation.check(...repair.checks);
    await addWrite(context, operation, finding, repair);
    if (!snapshot.entry.live) continue;
    const entry = { index, key: finding.key, value: null };
    for (const mark of changeMarkKeys(context.model, [entry])) operation.sum(mark, 1n);
  }
  try {
    const { ok } = await run.lease.commit(operation);
    if (isRecording) await catalog.reload();
    return ok;
  } catch (error) {
    if (inspections.length > 1 && isLimitError(error)) return false;
    throw error;
  }
}

async function addWrite(
  context: ModelStore,
  operation: AtomicOperation,
  { key }: Inspection["finding"],
  { write }: EntryRepair,
): Promise<void> {
  const { model } = context;
  switch (write.kind) {
    case "set": {
      const expireAt = await rowExpireAt(viewOf(context), write.row);
      const options = expireAt === undefined ? {} : setUntil(expireAt, currentTime());
      operation.set(key, write.entry.value, options);
      return;
    }
    case "delete":
      operation.delete(key);
      return;
    case "record":
      operation.set(duplicateKey(model, write.duplicate), write.duplicate);
  }
}
