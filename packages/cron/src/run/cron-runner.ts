import { randomUUID } from "node:crypto";
import { isKeywrightError, type Kv } from "@keywright/core";
import type { CronDefinition } from "../definition/define-cron.js";
import { CronInterruptedError } from "../errors/cron-errors.js";
import { Schedule, type ScheduleText } from "../schedule/schedule.js";
import { keysOf } from "../state/cron-keys.js";
import {
  type CronPlan,
  type CronState,
  type LastRun,
  readState,
  recordFormat,
  type StoredRun,
} from "../state/cron-records.js";
import { type Decision, decide } from "./decide.js";
import { HeldRun } from "./held-run.js";
import {
  lastRun,
  type RunContext,
  type RunnerSettings,
  report,
  runHandler,
} from "./run-handler.js";
import { sleep } from "./sleep.js";

/** Another process may have changed what is stored, and the clock may have been set. */
const longestWait = 60_000;
const longestPause = 30_000;

/** Runs one cron in this process, and takes turns with the other processes that run it. */
export class CronRunner {
  readonly #context: RunContext;
  #schedule: Schedule;
  #text: ScheduleText;
  /** The lease of another process as it was last read, and since when it is the same. */
  #seen: { versionstamp: string | null; since: number } = { versionstamp: null, since: 0 };
  #hasPlanned = false;
  /**
   * When the lease of a tick ends, in milliseconds of the monotonic clock, if the answer to the
   * commit that took the tick was lost.
   */
  #unknownEnd: number | undefined;

  constructor(kv: Kv, definition: CronDefinition, settings: RunnerSettings) {
    const { name } = definition;
    const { lease } = settings;
    const store = { kv, name, keys: keysOf(name), runner: randomUUID(), lease };
    this.#context = { definition, settings, store };
    this.#text = definition;
    this.#schedule = new Schedule(definition);
  }

  /** Runs until the signal is aborted or the database is closed, and the handler has ended. */
  async run(): Promise<void> {
    const { signal } = this.#context.settings;
    let pause = 500;
    while (!signal.aborted) {
      try {
        await sleep(await this.#step(), signal);
        pause = 500;
      } catch (error) {
        if (isClosed(error)) return;
        this.#report(error);
        await sleep(pause, signal);
        pause = Math.min(2 * pause, longestPause);
      }
    }
  }

  /** Does what is to be done now. Returns the milliseconds until there may be more. */
  async #step(): Promise<number> {
    const { kv, name, keys, runner } = this.#context.store;
    const state = await readState(kv, name, keys);
    const plan = await this.#planned(state);
    if (plan === undefined) return 0;
    const decision = this.#decide(state, plan);
    // Nobody else has the run of this runner, whose handler does not run now.
    const isOwn = state.run.value?.runner === runner && state.run.value.retryAt === undefined;
    const end = this.#unknownEnd;
    this.#unknownEnd = undefined;
    if (isOwn && end !== undefined) {
      await runHandler(
        this.#context,
        new HeldRun(this.#context.store, state.run.value!, state.run.versionstamp!, end),
      );
      return 0;
    }
    if (decision.type === "wait") return Math.min(decision.milliseconds, longestWait);
    if (decision.type === "plan") {
      const value: CronPlan = { ...plan, next: decision.next };
      await kv.atomic().check(state.plan).check(state.run).set(keys.plan, value).commit();
      return 0;
    }
    if (decision.type === "giveUp") await this.#giveUp(state);
    else await this.#begin(state, decision);
    return 0;
  }

  /** Returns the stored plan. Undefined if it was just written, or another process has done so. */
  async #planned({ plan: { value, ...entry } }: CronState): Promise<CronPlan | undefined> {
    const { schedule, syntax, timeZone } = this.#context.definition;
    const isSame = value !== null && isSameText(value, this.#context.definition);
    if (value !== null && (isSame || this.#hasPlanned)) {
      this.#hasPlanned = true;
      // Another program that started later has changed the schedule. All follow it.
      if (!isSameText(value, this.#text)) this.#schedule = new Schedule(value);
      this.#text = value;
      return value;
    }
    const next = this.#schedule.after(Date.now());
    const plan: CronPlan = { format: recordFormat, schedule, syntax, timeZone, next };
    const { kv, keys } = this.#context.store;
    const operation = kv.atomic().check({ key: keys.plan, versionstamp: entry.versionstamp });
    this.#hasPlanned = (await operation.set(keys.plan, plan).commit()).ok;
    return undefined;
  }

  #decide({ run, lease, last }: CronState, plan: CronPlan): Decision {
    const now = performance.now();
    // What counts is how long a lease stays the same, because clocks of machines differ.
    if (lease.versionstamp === null || lease.versionstamp !== this.#seen.versionstamp)
      this.#seen = { versionstamp: lease.versionstamp, since: now };
    const isOwn = run.value?.runner === this.#context.store.runner;
    const milliseconds = isOwn ? 0 : (lease.value?.milliseconds ?? 0);
    const leaseEndsIn = this.#seen.since + milliseconds - now;
    const decision = decide(
      {
        now: Date.now(),
        plan,
        run: run.value ?? undefined,
        last: last.value ?? undefined,
        leaseEndsIn,
      },
      this.#context.definition,
      this.#schedule,
    );
    const isWaiting = decision.type === "wait" && run.value !== null;
    if (!isWaiting || run.value?.retryAt !== undefined) return decision;
    // Sees soon when the run has ended, also if the schedule has seconds.
    return { type: "wait", milliseconds: Math.min(decision.milliseconds, milliseconds / 3) };
  }

  async #begin(state: CronState, decision: Decision & { type: "begin" }): Promise<void> {
    const { value } = state.run;
    // The end of an own run could not be stored, which was reported.
    const isOther = value !== null && value.runner !== this.#context.store.runner;
    if (isOther && value.retryAt === undefined)
      this.#report(new CronInterruptedError(this.#context.store.name, value), value);
    let run: HeldRun | undefined;
    const end = performance.now() + this.#context.store.lease;
    try {
      run = await HeldRun.begin(this.#context.store, state, decision);
    } catch (error) {
      this.#unknownEnd = end;
      throw error;
    }
    if (run !== undefined) await runHandler(this.#context, run);
  }

  async #giveUp({ run, lease }: CronState): Promise<void> {
    const { kv, keys, name } = this.#context.store;
    const stored = run.value!;
    const error = new CronInterruptedError(name, stored);
    const last = await lastRun(this.#context.store, stored, error.message);
    const value: LastRun = { format: recordFormat, ...last };
    const operation = kv.atomic().check(run).check(lease).delete(keys.run).delete(keys.lease);
    if ((await operation.set(keys.last, value).commit()).ok) this.#report(error, stored);
  }

  #report(error: unknown, run?: StoredRun): void {
    report(this.#context, error, run);
  }
}

function isSameText(a: ScheduleText, b: ScheduleText): boolean {
  return a.schedule === b.schedule && a.syntax === b.syntax && a.timeZone === b.timeZone;
}

/** True if the database was closed: by Keywright's error, or by those of Deno. */
function isClosed(error: unknown): boolean {
  if (isKeywrightError(error)) return error.code === "KW_DATABASE_CLOSED";
  const { name, message } = error as { name?: unknown; message?: unknown };
  return name === "BadResource" || /\b(database|resource) (is|was) closed\b/i.test(`${message}`);
}
