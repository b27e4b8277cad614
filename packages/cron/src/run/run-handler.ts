import type { AtomicOperation } from "@keywright/core";
import type { CronDefinition } from "../definition/define-cron.js";
import {
  CronCommitRefusedError,
  CronCompletionError,
  CronRunLostError,
} from "../errors/cron-errors.js";
import type { LastRun, StoredRun } from "../state/cron-records.js";
import type { HeldRun, RunStore } from "./held-run.js";

/** Where an error came from. */
export interface CronFailure {
  /** The name of the cron. */
  readonly name: string;
  /** The tick and the attempt whose handler has failed. Undefined if the database has failed. */
  readonly tick?: Date;
  readonly attempt?: number;
}

/** What all crons of a call of `runCrons` have in common. */
export interface RunnerSettings {
  readonly lease: number;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown, failure: CronFailure) => void;
}

/** One cron of a call of `runCrons`. */
export interface RunContext {
  readonly store: RunStore;
  readonly definition: CronDefinition;
  readonly settings: RunnerSettings;
}

/**
 * Runs the handler, and commits how it has ended, unless the run was lost. Leaves the tick to
 * another process if the crons were told to end.
 */
export async function runHandler(context: RunContext, run: HeldRun): Promise<void> {
  try {
    if (!(await run.isHeld())) report(context, run.lost.reason, run.stored);
    else if (context.settings.signal.aborted) await leave(run);
    else await callHandler(context, run);
  } finally {
    run.stop();
  }
}

async function callHandler(context: RunContext, run: HeldRun): Promise<void> {
  const { definition, settings, store } = context;
  const { tick, attempt } = run.stored;
  // Not AbortSignal.any, which keeps memory in Node.js 20 for as long as its first signal lives.
  const ending = new AbortController();
  const onStop = () => ending.abort(settings.signal.reason);
  const onLost = () => ending.abort(run.lost.reason);
  settings.signal.addEventListener("abort", onStop);
  run.lost.addEventListener("abort", onLost);
  try {
    const completion = store.kv.atomic();
    let failure: { readonly error: unknown } | undefined;
    try {
      await definition.handler({
        ...{ name: store.name, tick: new Date(tick), attempt, completion },
        signal: ending.signal,
        check: run.check,
      });
    } catch (error) {
      failure = { error };
    }
    if (run.lost.aborted) report(context, run.lost.reason, run.stored);
    else if (failure !== undefined) await fail(context, run, failure.error);
    else {
      const problem = await finish(context, run, completion);
      if (problem !== undefined) await fail(context, run, problem);
    }
  } finally {
    settings.signal.removeEventListener("abort", onStop);
  }
}

/**
 * Commits that a tick has succeeded.
 *
 * @returns why nothing was committed, if the run is still this one. The attempt has failed then,
 * because the same completion may never be committed.
 */
async function finish(
  context: RunContext,
  run: HeldRun,
  completion: AtomicOperation,
): Promise<CronCommitRefusedError | CronCompletionError | undefined> {
  const { store } = context;
  const last = await lastRun(store, run.stored, undefined);
  let failure: CronCompletionError | undefined;
  try {
    if (await run.end(last, completion)) return undefined;
  } catch (error) {
    failure = new CronCompletionError(store.name, error);
  }
  // The answer may have been lost, or a check of the handler has failed.
  const { versionstamp } = await store.kv.get(store.keys.run);
  if (versionstamp !== run.check.versionstamp) {
    if (failure === undefined) report(context, new CronRunLostError(store.name), run.stored);
    return undefined;
  }
  return failure ?? new CronCommitRefusedError(store.name);
}

/** Plans the next attempt, or gives the tick up. */
async function fail(context: RunContext, run: HeldRun, error: unknown): Promise<void> {
  const { definition, settings, store } = context;
  const { stored } = run;
  const message = messageOf(error);
  if (settings.signal.aborted) {
    // The handler was told to end.
    if (error instanceof CronCompletionError) report(context, error, stored);
    await leave(run, message);
    return;
  }
  report(context, error, stored);
  const delay = definition.backoffSchedule[stored.attempt - 1];
  if (delay !== undefined) await run.retryAt(Date.now() + delay, message, stored.attempt);
  else await run.end(await lastRun(store, stored, message), store.kv.atomic());
}

/** Lets another process run the tick. The attempt does not count. */
async function leave(run: HeldRun, message?: string): Promise<void> {
  await run.retryAt(Date.now(), message, run.stored.attempt - 1);
}

/** Returns the record of the end of a tick. `error` is undefined if it has succeeded. */
export async function lastRun(
  { kv, keys }: RunStore,
  { tick, attempt, begunAt, runner }: StoredRun,
  error: string | undefined,
): Promise<Omit<LastRun, "format">> {
  const { succeeded = 0, failed = 0 } = (await kv.get<LastRun>(keys.last)).value ?? {};
  return {
    ...{ tick, attempt, begunAt, runner, endedAt: Date.now() },
    succeeded: succeeded + (error === undefined ? 1 : 0),
    failed: failed + (error === undefined ? 0 : 1),
    ...(error !== undefined && { error }),
  };
}

export function report(
  { settings, store: { name } }: RunContext,
  error: unknown,
  run?: StoredRun,
): void {
  const failure =
    run === undefined ? { name } : { name, tick: new Date(run.tick), attempt: run.attempt };
  settings.onError(error, failure);
}

/** The message of an error, short enough for every database. */
function messageOf(error: unknown): string {
  try {
    return (error instanceof Error ? error.message : String(error)).slice(0, 1000);
  } catch {
    return "(it cannot be shown)";
  }
}
