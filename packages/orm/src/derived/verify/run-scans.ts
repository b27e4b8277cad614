import type { KvEntry, KvKey } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import type { IndexState } from "../../state/catalog/catalog-entry.js";
import { inParallel } from "../../state/context/in-parallel.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { scan } from "../../state/run/page-reader.js";
import { Verification } from "./verification.js";
import type { Confirmed, Scan, Suspect, Verifier } from "./verifier.js";

export interface VerificationOptions {
  /** Those that are incomplete or no longer maintained are skipped. */
  readonly indexes: readonly CompiledIndex[];
  readonly repair: boolean;
  /** True to verify nothing but the indexes. */
  readonly onlyIndexes?: boolean;
  /** Rebuilds the counters in any case, if `repair` is true. */
  readonly recount?: boolean;
  /** A stopped verification is resumed only by a call with the same text. */
  readonly partOf?: string;
  readonly rowsTotal?: number | undefined;
  /** How many rows or entries are read before the progress is stored again. */
  readonly saveEvery?: number;
}

/** Scans a page, and returns how much is wrong. */
interface Visit {
  readonly prefix: KvKey | undefined;
  visit(page: readonly KvEntry<unknown>[], after: KvKey | null): Promise<number | "stopped">;
}

/** Each save of the sums stores 512 KiB. */
const saveSumsEvery = 250_000;
const saveEvery = 5_000;
const suspectsPerGroup = 100;
/** How many suspects are read again at the same time. */
const suspectsAtOnce = 8;
const completeStates: readonly IndexState[] = [
  "readable",
  "verifying",
  "unique-pending",
  "disabled",
];

/**
 * Resumes the verification that was stopped, or begins a new one.
 *
 * @param verify gets the indexes that are complete. The progress is kept if it resolves to
 * `"stopped"`.
 * @throws {StaleSchemaError} if `repair` is set and the program is older than the database.
 */
export async function withVerification<T>(
  store: ModelStore,
  run: MigrationRun,
  { indexes, repair, partOf = "", onlyIndexes = false }: VerificationOptions,
  verify: (verification: Verification, indexes: readonly CompiledIndex[]) => Promise<T | "stopped">,
): Promise<T | "stopped"> {
  await store.catalog.reload();
  const { snapshot } = store.catalog;
  snapshot.assertSameKey();
  if (repair) snapshot.assertWritable();
  const complete = indexes.filter((index) => completeStates.includes(snapshot.stateOf(index)));
  const states = complete.map((index) => [index.name, snapshot.stateOf(index)]);
  const subject = JSON.stringify([partOf, repair, onlyIndexes, states]);
  const verification = await Verification.open(store, run, subject);
  const result = await verify(verification, complete);
  if (result === "stopped") await verification.save();
  else await verification.clear();
  return result;
}

/**
 * Compares what is derived from the rows of a model with the rows, in bounded memory, while others
 * read and write. One scan of the rows and one of each place show what may be wrong, in a fraction
 * of the time that reading each entry would take. Usually there is nothing. Each suspect is read
 * again before it is reported, so that concurrent writes cause no false findings.
 *
 * @returns false if the signal stopped it.
 */
export async function runScans(
  store: ModelStore,
  run: MigrationRun,
  verification: Verification,
  verifiers: readonly Verifier[],
  { indexes, rowsTotal, saveEvery: saveInterval }: VerificationOptions,
): Promise<boolean> {
  if (verifiers.length === 0) return true;
  const names = indexes.map(({ name }) => name);
  const meter = run.meter(store.model.name, names);
  let visits = visitsOf(store, run, verification, verifiers);
  const start = () => {
    const { done, total } = progressOf(verification, visits.length, rowsTotal);
    meter.start("verifying", done, total);
  };
  start();
  let unsaved = 0;
  let hasFound = false;
  for (;;) {
    const { state } = verification;
    const current = visits[state.position];
    if (current === undefined) {
      if (!verification.isSumming || verification.sums.areZero) break;
      verification.beginScan("compare", 0);
      visits = visitsOf(store, run, verification, verifiers);
      start();
      continue;
    }
    if (run.signal?.aborted) return false;
    for await (const { entries, isLast } of pagesOf(store, run, current, state.after)) {
      const found = await current.visit(entries, verification.state.after);
      if (found === "stopped") return false;
      hasFound ||= found > 0;
      unsaved += entries.length;
      if (isLast) verification.beginScan(state.phase, state.position + 1);
      else verification.advance(entries.at(-1)!.key, entries.length);
      const interval = verification.isSumming && !hasFound ? saveSumsEvery : saveEvery;
      const isDue = unsaved >= (saveInterval ?? interval);
      if (isDue || (hasFound && !verification.isSumming)) {
        await verification.save();
        unsaved = 0;
        hasFound = false;
      }
      const { done, total } = progressOf(verification, visits.length, rowsTotal);
      meter.advance(done, total);
    }
  }
  const { rows } = verification.state;
  meter.advance(rows, rows);
  return true;
}

/** Returns what a phase visits: the rows, and then what each kind has. */
function visitsOf(
  { model }: ModelStore,
  run: MigrationRun,
  verification: Verification,
  verifiers: readonly Verifier[],
): Visit[] {
  const visitRows = async (page: readonly KvEntry<unknown>[]) => {
    if (verification.isSumming) verification.state.rows += page.length;
    let found = 0;
    for (const verifier of verifiers) {
      const suspects = await verifier.compareRows?.(page as readonly KvEntry<AnyRow>[]);
      found += await settle(run, verifier, suspects ?? []);
    }
    return found;
  };
  const visitOwn = (verifier: Verifier, own: Scan<unknown>): Visit => ({
    prefix: own.prefix,
    visit: async (page, after) => {
      const suspects = await own.compare(page, after);
      return suspects === "stopped" ? suspects : await settle(run, verifier, suspects);
    },
  });
  const own = verifiers.map((verifier) => verifier.scans?.().map((one) => visitOwn(verifier, one)));
  return [{ prefix: [model.place], visit: visitRows }, ...own.flatMap((visits) => visits ?? [])];
}

function pagesOf(
  store: ModelStore,
  run: MigrationRun,
  { prefix }: Visit,
  after: KvKey | null,
): ReturnType<typeof scan> | readonly { readonly entries: []; readonly isLast: true }[] {
  return prefix === undefined ? [{ entries: [], isLast: true }] : scan(store, run, prefix, after);
}

/** Reads suspects again, and settles those that are wrong. Returns their number. */
async function settle<Found>(
  run: MigrationRun,
  verifier: Verifier<Found>,
  suspects: readonly Suspect<Found>[],
): Promise<number> {
  const confirmed: Confirmed<Found>[] = [];
  for (let from = 0; from < suspects.length; from += suspectsPerGroup) {
    if (from > 0) await run.afterBatch(0);
    const group = suspects.slice(from, from + suspectsPerGroup);
    const all = await inParallel(group, suspectsAtOnce, (readAgain) => readAgain());
    for (const [i, found] of all.entries()) {
      if (found !== undefined) confirmed.push({ found, readAgain: group[i]! });
    }
  }
  if (confirmed.length > 0) await verifier.settle(confirmed);
  return confirmed.length;
}

/**
 * Returns how much of the work of a phase is done, in rows. Each scan has the same share. If the
 * number of rows is unknown, `done` is the number of rows of the first scan.
 */
function progressOf(
  { isSumming, state: { position, scanned, rows } }: Verification,
  scans: number,
  rowsTotal: number | undefined,
): { done: number; total: number | undefined } {
  const total = isSumming && position === 0 ? rowsTotal : rows;
  if (total === undefined) return { done: rows, total };
  const share = total === 0 ? 1 : Math.min(scanned / total, 1);
  return { done: Math.min(total, Math.floor((total * (position + share)) / scans)), total };
}
