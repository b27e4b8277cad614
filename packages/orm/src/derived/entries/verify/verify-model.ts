import type { CompiledIndex } from "../../../model/compiled-model.js";
import type { UnindexedRow } from "../../../state/catalog/backfill-state.js";
import type { IndexState } from "../../../state/catalog/catalog-entry.js";
import { inParallel } from "../../../state/context/in-parallel.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { type MigrationRun, maxBatchRows } from "../../../state/run/migration-run.js";
import { PageReader } from "../../../state/run/page-reader.js";
import { dropCounters, dropsCounters } from "../../counters/drop-counters.js";
import type { Inspection } from "./inspect-entry.js";
import { type Repairable, repairEntries } from "./repair-entries.js";
import { sumEntries, verifyEntries } from "./verify-entries.js";
import { type Suspect, sumRows, type VerifyStep, verifyRows } from "./verify-rows.js";
import { type EntryFinding, type FindingCounts, Verification } from "./verify-state.js";

export interface VerifyModelOptions {
  readonly repair: boolean;
  /** Rebuilds the counters in any case, if `repair` is true. */
  readonly recount?: boolean;
  /** Builds the counters that were marked as dropping. Returns false if the signal stopped it. */
  readonly rebuildCounters?: () => Promise<boolean>;
  /** A stopped verification is resumed only by a call with the same text. */
  readonly partOf?: string;
  readonly rowsTotal?: number | undefined;
  /** How many rows or entries are read before the progress is stored again. */
  readonly saveEvery?: number;
}

/** The result of verifying the indexes of a model. */
export interface VerifiedEntries {
  readonly model: string;
  /** The indexes that were verified. Incomplete indexes are left out. */
  readonly indexes: readonly string[];
  /** The number of rows and entries that were read. */
  readonly rows: number;
  readonly entries: number;
  /** The first 100. */
  readonly findings: readonly EntryFinding[];
  /** The number of findings of each kind, including those not listed. */
  readonly counts: FindingCounts;
  /** How many of the findings were repaired. */
  readonly repaired: number;
  /**
   * How many of the findings are rows that should have the same unique value as another row. Only a
   * change of one of the two rows can repair these.
   */
  readonly conflicts: number;
  /**
   * The first rows that an index cannot hold, for example because its function throws for them.
   * Queries by that index do not find them. They cannot be repaired.
   */
  readonly unindexed: readonly UnindexedRow[];
  /** The number of such rows. A row counts once for each reason. */
  readonly unindexedCount: number;
}

interface Work {
  readonly context: ModelStore;
  readonly run: MigrationRun;
  readonly pages: PageReader;
  readonly verification: Verification;
  readonly indexes: readonly CompiledIndex[];
  readonly summed: readonly CompiledIndex[];
  readonly options: VerifyModelOptions;
  /** `hasDroppedCounters` is true after this call has marked the counters as dropping. */
  readonly progress: { hasDroppedCounters: boolean };
}

/** Each save of the sums stores 512 KiB. */
const saveSumsEvery = 250_000;
const saveEvery = 5_000;
const suspectsPerGroup = 100;
/** How many suspects are inspected at the same time. */
const suspectsAtOnce = 8;

/**
 * Verifies in both directions that a model's rows match the entries of some of its indexes, in
 * bounded memory, while others read and write. One scan of the rows and one of the entries show
 * which entries may be wrong, in a fraction of the time that reading each entry would take. Usually
 * there are none. Each suspect is confirmed by a second read of the row and the entry in one
 * snapshot, so that concurrent writes cause no false findings.
 *
 * Repairs are made under checks. A unique key is not taken from a row that rightfully has it. If
 * entries were repaired, the model's counters are rebuilt.
 *
 * A row that an index cannot hold should have no entry there. Such rows are listed separately from
 * the findings.
 *
 * Rows count as they are stored. A row that a migration has not yet reached has the entries of its
 * old shape.
 *
 * @param indexes the indexes to verify. Those that are incomplete or no longer maintained are
 * skipped.
 * @returns `"stopped"` if the signal stopped it. The next call resumes there.
 * @throws {StaleSchemaError} if `repair` is set and the program is older than the database.
 */
export async function verifyModel(
  context: ModelStore,
  indexes: readonly CompiledIndex[],
  run: MigrationRun,
  options: VerifyModelOptions,
): Promise<VerifiedEntries | "stopped"> {
  const { model, catalog } = context;
  await catalog.reload();
  catalog.snapshot.assertSameKey();
  if (options.repair) catalog.snapshot.assertWritable();
  const complete = indexes.filter((index) => isComplete(catalog.snapshot.stateOf(index)));
  const names = complete.map((index) => index.name);
  const summed = complete.filter((index) => index.store === "pointer");
  const states = complete.map((index) => catalog.snapshot.stateOf(index));
  const subject = JSON.stringify([options.partOf ?? "", options.repair, names, states]);
  const phase = summed.length > 0 ? "sum-rows" : "rows";
  const verification = await Verification.open(context, run, subject, phase);
  const mustRecount = options.repair && options.recount === true;
  if (mustRecount) await dropCounters(context, run);
  const progress = { hasDroppedCounters: mustRecount };
  const pages = new PageReader(context, run);
  const scans = { context, run, pages, verification };
  const work: Work = { ...scans, indexes: complete, summed, options, progress };
  const isDone = (await scanIndexes(work)) && (await recount(work));
  if (!isDone) {
    await verification.save();
    return "stopped";
  }
  await verification.clear();
  return verifiedEntries(model.name, names, verification);
}

async function recount({ context, verification, options }: Work): Promise<boolean> {
  if (!options.repair || options.partOf !== undefined) return true;
  await context.catalog.reload();
  const { entry } = context.catalog.snapshot;
  if (verification.state.recounts === undefined && !dropsCounters(entry)) return true;
  // After the counters are dropped, the catalog no longer shows that they have to be rebuilt.
  verification.state = { ...verification.state, recounts: true };
  await verification.save();
  return (await options.rebuildCounters?.()) ?? true;
}

function isComplete(state: IndexState): boolean {
  return (
    state === "readable" ||
    state === "verifying" ||
    state === "unique-pending" ||
    state === "disabled"
  );
}

async function scanIndexes(work: Work): Promise<boolean> {
  if (work.indexes.length === 0) return true;
  try {
    return await runScans(work);
  } finally {
    await work.pages.settle();
  }
}

/** Scans rows and entries to the end. Returns false if the signal stopped it. */
async function runScans(work: Work): Promise<boolean> {
  const { context, run, verification, indexes, summed } = work;
  const meter = run.meter(
    context.model.name,
    indexes.map((index) => index.name),
  );
  const { done, total } = progressOf(work);
  meter.start("verifying", done, total);
  let unsaved = 0;
  for (;;) {
    if (run.signal?.aborted) return false;
    const { phase } = verification.state;
    const step = await nextStep(work, Math.min(maxBatchRows, run.batchRows));
    const found = await inspectSuspects(work, step.suspects);
    await run.afterBatch(step.looked);
    unsaved += step.looked;
    const isSumming = phase === "sum-rows" || phase === "sum-entries";
    const { saveEvery: saveInterval = isSumming ? saveSumsEvery : saveEvery } = work.options;
    if (step.isLast && !(await beginNextScan(work))) break;
    if (found > 0 || unsaved >= saveInterval) {
      await verification.save();
      unsaved = 0;
    }
    const progress = progressOf(work);
    // The second scan of the rows starts the progress again.
    const isSecondLook = isSumming && verification.state.phase === "rows" && summed.length > 0;
    if (isSecondLook) meter.start("verifying", progress.done, progress.total);
    else meter.advance(progress.done, progress.total);
  }
  const { rows } = verification.state;
  meter.advance(rows, rows);
  return true;
}

async function nextStep(work: Work, limit: number): Promise<VerifyStep> {
  const { context, pages, verification, indexes, summed } = work;
  const { phase, position } = verification.state;
  const index = (phase === "sum-entries" ? summed : indexes)[position];
  switch (phase) {
    case "sum-rows":
      return await sumRows(context, pages, verification, indexes, limit);
    case "rows":
      return await verifyRows(context, pages, verification, indexes, limit, summed.length === 0);
    default: {
      if (index === undefined) throw new TypeError(`There is no index at ${position}.`);
      const scan = phase === "sum-entries" ? sumEntries : verifyEntries;
      return await scan(context, pages, verification, index, limit);
    }
  }
}

/** Begins the next scan. Returns false if the last one has ended. */
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

/** Returns how many suspects are wrong. */
async function inspectSuspects(work: Work, suspects: readonly Suspect[]): Promise<number> {
  const { context, run, verification, options } = work;
  const found: Repairable[] = [];
  for (let from = 0; from < suspects.length; from += suspectsPerGroup) {
    if (from > 0) await run.afterBatch(0);
    const group = suspects.slice(from, from + suspectsPerGroup);
    const inspections = await inParallel(group, suspectsAtOnce, (inspectAgain) => inspectAgain());
    for (const [i, inspection] of inspections.entries()) {
      if (inspection === undefined) continue;
      const { kind, key } = inspection.finding;
      if (kind === "dangling" && (await verification.isClaimed(key))) continue;
      found.push({ inspection, inspectAgain: group[i]! });
    }
  }
  const isRepaired = found.some(({ inspection }) => inspection.finding.heldBy === undefined);
  if (
    options.repair &&
    options.partOf === undefined &&
    isRepaired &&
    !work.progress.hasDroppedCounters
  ) {
    await dropCounters(context, run);
    work.progress.hasDroppedCounters = true;
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
 * Returns how much of the work is done, in rows. The scan of the rows and the scan of each index
 * have equal shares. If the number of rows is unknown, `done` is the number of rows of the first
 * scan.
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

function verifiedEntries(
  model: string,
  indexes: readonly string[],
  { state, findings }: Verification,
): VerifiedEntries {
  const { rows, entries, counts, repaired, conflicts = 0, unindexed } = state;
  return {
    model,
    indexes,
    rows,
    entries,
    findings,
    counts,
    repaired,
    conflicts,
    unindexed: unindexed?.rows ?? [],
    unindexedCount: unindexed?.count ?? 0,
  };
}
