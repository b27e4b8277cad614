import type { KvEntry, KvKey } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { inParallel } from "../../promises/in-parallel.js";
import type { IndexState } from "../../state/catalog/catalog-entry.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { scan } from "../../state/run/page-reader.js";
import { Verification } from "./verification.js";
import type { Confirmed, Suspect, Verifier, VerifyContext, Walk } from "./verifier.js";

/** A scan of the rows or of a walk, and all that compare its pages. */
interface Visit<Store extends ModelStore> {
  readonly prefix: KvKey | undefined;
  readonly compared: readonly {
    readonly by: Verifier<unknown, Store>;
    readonly compare: Walk<unknown>["compare"];
  }[];
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
export async function withVerification<Store extends ModelStore, Result>(
  context: Omit<VerifyContext<Store>, "verification">,
  verify: (context: VerifyContext<Store>) => Promise<Result | "stopped">,
): Promise<Result | "stopped"> {
  const { store, run, repair, partOf = "", onlyIndexes = false } = context;
  await store.catalog.reload();
  const { snapshot } = store.catalog;
  snapshot.assertSameKey();
  if (repair) snapshot.assertWritable();
  const indexes = context.indexes.filter((one) => completeStates.includes(snapshot.stateOf(one)));
  const states = indexes.map((index) => [index.name, snapshot.stateOf(index)]);
  const subject = JSON.stringify([partOf, repair, onlyIndexes, states]);
  const verification = await Verification.open(store, run, subject);
  const result = await verify({ ...context, indexes, verification });
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
export async function runScans<Store extends ModelStore>(
  context: VerifyContext<Store>,
  verifiers: readonly Verifier<unknown, Store>[],
): Promise<boolean> {
  const { store, run, verification, indexes, rowsTotal, saveEvery: saveInterval } = context;
  const names = indexes.map(({ name }) => name);
  const meter = run.meter(store.model.name, names);
  let visits = visitsOf(context, verifiers);
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
      visits = visitsOf(context, verifiers);
      start();
      continue;
    }
    if (run.signal?.aborted) return false;
    for await (const { entries, isLast } of pagesOf(context, current, state.after)) {
      if (state.position === 0 && verification.isSumming) state.rows += entries.length;
      for (const { by, compare } of current.compared) {
        const suspects = await compare(entries, state.after);
        if (suspects === "stopped") return false;
        const found = await confirm(run, suspects);
        if (found.length === 0) continue;
        await by.settle(found, context);
        hasFound = true;
      }
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
function visitsOf<Store extends ModelStore>(
  context: VerifyContext<Store>,
  verifiers: readonly Verifier<unknown, Store>[],
): Visit<Store>[] {
  const rows = verifiers.map((by) => ({
    by,
    compare: (page: readonly KvEntry<unknown>[]) =>
      by.compare(page as readonly KvEntry<AnyRow>[], context),
  }));
  const walks = verifiers.flatMap((by) => {
    const own = by.walks?.(context) ?? [];
    return own.map(({ prefix, compare }) => ({ prefix, compared: [{ by, compare }] }));
  });
  return [{ prefix: [context.store.model.place], compared: rows }, ...walks];
}

function pagesOf(
  { store, run }: VerifyContext<ModelStore>,
  { prefix }: Pick<Visit<ModelStore>, "prefix">,
  after: KvKey | null,
): ReturnType<typeof scan> | readonly { readonly entries: []; readonly isLast: true }[] {
  return prefix === undefined ? [{ entries: [], isLast: true }] : scan(store, run, prefix, after);
}

/** Reads suspects again, and returns those that are wrong. */
async function confirm<Found>(
  run: MigrationRun,
  suspects: readonly Suspect<Found>[],
): Promise<Confirmed<Found>[]> {
  const confirmed: Confirmed<Found>[] = [];
  for (let from = 0; from < suspects.length; from += suspectsPerGroup) {
    if (from > 0) await run.afterBatch(0);
    const group = suspects.slice(from, from + suspectsPerGroup);
    const all = await inParallel(group, suspectsAtOnce, (readAgain) => readAgain());
    for (const [i, found] of all.entries()) {
      if (found !== undefined) confirmed.push({ found, readAgain: group[i]! });
    }
  }
  return confirmed;
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
