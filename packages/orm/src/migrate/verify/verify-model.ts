import { type IndexState, withCounterStates } from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { buildCounters } from "../build/build-counters.js";
import { dropIndexes } from "../build/drop-indexes.js";
import { ProgressMeter } from "../run/migration-progress.js";
import { type MigrationRun, maxBatchRows } from "../run/migration-run.js";
import type { Inspection } from "./inspect-entry.js";
import { type Repairable, repairEntries } from "./repair-entries.js";
import { type VerifiedModel, verifiedModel } from "./verified-model.js";
import { sumEntries, verifyEntries } from "./verify-entries.js";
import { type Suspect, sumRows, type VerifyStep, verifyRows } from "./verify-rows.js";
import { Verification } from "./verify-state.js";

/** How a model is verified. */
export interface VerifyModelOptions {
  /** Puts right what is wrong. */
  readonly repair: boolean;
  /** Tells what it is part of: one that was stopped is gone on with only by a call with the same text. */
  readonly partOf?: string;
  /** For the progress; undefined where nobody knows. */
  readonly rowsTotal?: number | undefined;
  /** Rows or entries after which it is stored how far it has come; a good number without it. */
  readonly saveEvery?: number;
}

/** What a verification works with. */
interface Work {
  readonly context: TableContext;
  readonly run: MigrationRun;
  readonly verification: Verification;
  readonly indexes: readonly CompiledIndex[];
  /** Those whose entries are pointers. */
  readonly summed: readonly CompiledIndex[];
  readonly options: VerifyModelOptions;
  /** Whether this call has given up the counters. */
  readonly progress: { isRecounted: boolean };
}

/** The whole table of sums is stored then: half a megabyte. */
const saveSumsEvery = 250_000;
const saveEvery = 5_000;

/**
 * Looks whether a model's rows and the entries of some of its indexes match, both ways, beside its writers and in bounded
 * memory. The first scan of the rows and that of the entries tell which entries may be wrong, in a fraction of the time that
 * reading each of them takes; usually there are none. What may be wrong is read again with its row, both as they are at one
 * time, so that a writer between two reads is no finding.
 *
 * Repairs are made under checks. A unique key that another row has by right is not taken from it. Counters are not looked at;
 * where entries were repaired, the model's counters are built anew.
 *
 * A row that an index cannot hold should have no entry in it; it is listed beside the findings.
 *
 * A row counts as it is stored: of a row that a migration has not reached yet, the entries are those of its old shape.
 *
 * @param indexes those of them that are not complete, or not kept up any more, are passed over.
 * @returns `"stopped"` where the signal stopped it; the next call goes on there.
 * @throws {LeaseLostError} where another runner has the lease.
 * @throws {StaleSchemaError} where it is to repair, and the program is older than the database.
 */
export async function verifyModel(
  context: TableContext,
  indexes: readonly CompiledIndex[],
  run: MigrationRun,
  options: VerifyModelOptions,
): Promise<VerifiedModel | "stopped"> {
  const { model, catalog } = context;
  await catalog.reload();
  if (options.repair) catalog.snapshot.assertWritable();
  const complete = indexes.filter((index) => isComplete(catalog.snapshot.stateOf(index)));
  const names = complete.map((index) => index.name);
  const summed = complete.filter((index) => index.store === "pointer");
  const states = complete.map((index) => catalog.snapshot.stateOf(index));
  const subject = JSON.stringify([options.partOf ?? "", options.repair, names, states]);
  const phase = summed.length > 0 ? "sum-rows" : "rows";
  const verification = await Verification.open(context, run, subject, phase);
  const progress = { isRecounted: false };
  const work: Work = { context, run, verification, indexes: complete, summed, options, progress };
  const isDone = (complete.length === 0 || (await runScans(work))) && (await recount(work));
  if (!isDone) {
    await verification.save();
    return "stopped";
  }
  await verification.end();
  return verifiedModel(model.name, names, verification);
}

/**
 * Gives up the model's counters before the first entry is repaired: whoever left that out has not counted the row either. The
 * catalog says so from then on, whoever crashes. A verification that is part of a migration leaves counters to it.
 */
async function dropCounters({ kv, catalog }: TableContext, run: MigrationRun): Promise<void> {
  for (;;) {
    await catalog.reload();
    catalog.snapshot.assertWritable();
    const { entry, check } = catalog.snapshot;
    const names = Object.keys(entry.counters ?? {});
    if (names.length === 0) return;
    const dropping = withCounterStates(entry, names, "dropping");
    const { ok } = await run.lease.commit(kv.atomic().check(check).set(check.key, dropping));
    await catalog.reload();
    if (ok) return;
  }
}

/** Builds the counters anew that were given up; false where the signal stopped it. */
async function recount({ context, run, verification, options }: Work): Promise<boolean> {
  if (!options.repair || options.partOf !== undefined) return true;
  await context.catalog.reload();
  const states = Object.values(context.catalog.snapshot.entry.counters ?? {});
  if (verification.state.recounts === undefined && !states.includes("dropping")) return true;
  // When they are gone the catalog does not say any more that there were some.
  verification.state = { ...verification.state, recounts: true };
  await verification.save();
  return (await dropIndexes(context, run)) && (await buildCounters(context, run));
}

function isComplete(state: IndexState): boolean {
  return (
    state === "readable" ||
    state === "verifying" ||
    state === "unique-pending" ||
    state === "disabled"
  );
}

/** Scans rows and entries to the end; false where the signal stopped it. */
async function runScans(work: Work): Promise<boolean> {
  const { context, run, verification, indexes, summed } = work;
  const meter = new ProgressMeter(
    context.model.name,
    indexes.map((index) => index.name),
    run.onProgress,
  );
  const { done, total } = progressOf(work);
  meter.start("verifying", done, total);
  let unsaved = 0;
  for (;;) {
    if (run.signal?.aborted) return false;
    const { phase } = verification.state;
    const step = await nextStep(work, Math.min(maxBatchRows, run.batchRows));
    const found = await inspectSuspects(work, step.suspects);
    await run.took(step.looked);
    unsaved += step.looked;
    const isSumming = phase === "sum-rows" || phase === "sum-entries";
    const { saveEvery: most = isSumming ? saveSumsEvery : saveEvery } = work.options;
    if (step.isLast && !(await beginNextScan(work))) break;
    if (found > 0 || unsaved >= most) {
      await verification.save();
      unsaved = 0;
    }
    const progress = progressOf(work);
    // What is scanned once more is reported from its start.
    const isSecondLook = isSumming && verification.state.phase === "rows" && summed.length > 0;
    if (isSecondLook) meter.start("verifying", progress.done, progress.total);
    else meter.advance(progress.done, progress.total);
  }
  const { rows } = verification.state;
  meter.advance(rows, rows);
  return true;
}

async function nextStep(work: Work, limit: number): Promise<VerifyStep> {
  const { context, verification, indexes, summed } = work;
  const { phase, position } = verification.state;
  const index = (phase === "sum-entries" ? summed : indexes)[position];
  switch (phase) {
    case "sum-rows":
      return await sumRows(context, verification, indexes, limit);
    case "rows":
      return await verifyRows(context, verification, indexes, limit, summed.length === 0);
    default: {
      if (index === undefined) throw new TypeError(`There is no index at ${position}.`);
      const scan = phase === "sum-entries" ? sumEntries : verifyEntries;
      return await scan(context, verification, index, limit);
    }
  }
}

/** Goes on to the next scan; false where that was the last one. */
async function beginNextScan({ verification, indexes, summed }: Work): Promise<boolean> {
  const { phase, position } = verification.state;
  if (phase === "sum-rows") verification.beginScan("sum-entries", 0);
  else if (phase === "rows") verification.beginScan("entries", 0);
  else if (position + 1 < (phase === "sum-entries" ? summed : indexes).length) {
    verification.beginScan(phase, position + 1);
  } else if (phase === "entries") return false;
  else if (verification.sums.areZero && summed.length === indexes.length) return false;
  else verification.beginScan("rows", 0);
  return true;
}

/** Looks once more at what may be wrong, and puts it right where that is asked for; how much of it was wrong. */
async function inspectSuspects(work: Work, suspects: readonly Suspect[]): Promise<number> {
  const { context, run, verification, options } = work;
  const found: Repairable[] = [];
  let looked = 0;
  for (const again of suspects) {
    if (++looked % 100 === 0) await run.took(0);
    const inspection = await again();
    if (inspection === undefined) continue;
    const { kind, key } = inspection.finding;
    if (kind === "dangling" && (await verification.isClaimed(key))) continue;
    found.push({ inspection, again });
  }
  const isRepaired = found.some(({ inspection }) => inspection.finding.heldBy === undefined);
  if (options.repair && options.partOf === undefined && isRepaired && !work.progress.isRecounted) {
    await dropCounters(context, run);
    work.progress.isRecounted = true;
  }
  const settled = options.repair
    ? await repairEntries(context, run, found)
    : found.map(({ inspection }) => inspection);
  for (const inspection of settled) await report(verification, inspection);
  return settled.length;
}

async function report(verification: Verification, inspection: Inspection): Promise<void> {
  const { finding, looksDangling } = inspection;
  verification.add(finding);
  if (looksDangling && !finding.repaired) await verification.claim(finding.key);
}

/**
 * How much of the work is done, in rows: the scan of the rows and that of each index have an equal share. As long as nobody
 * knows how many rows there are, it is the rows of the first scan.
 */
function progressOf({ verification, indexes, summed, options }: Work): {
  done: number;
  total: number | undefined;
} {
  const { phase, position, scanned, rows } = verification.state;
  const isSumming = phase === "sum-rows" || phase === "sum-entries";
  const isFirst = phase === "sum-rows" || (phase === "rows" && summed.length === 0);
  const total = isFirst ? options.rowsTotal : rows;
  if (total === undefined) return { done: rows, total };
  const scans = 1 + (isSumming ? summed : indexes).length;
  const isOfRows = phase === "sum-rows" || phase === "rows";
  const before = isOfRows ? 0 : 1 + position;
  const share = total === 0 ? 1 : Math.min(scanned / total, 1);
  return { done: Math.floor((total * (before + share)) / scans), total };
}
