import { InvalidOptionError, type Kv, type KvLike } from "@keywright/core";
import type { CronDefinition } from "./definition/define-cron.js";
import { onClose } from "./run/closing.js";
import { CronRunner } from "./run/cron-runner.js";
import type { CronFailure } from "./run/run-handler.js";
import { keysOf } from "./state/cron-keys.js";

/** Options of {@link runCrons}. */
export interface RunCronsOptions {
  /** Ends the crons. Handlers that run get it too, and are awaited. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds after which another process runs a tick again if the process that began it has
   * ended or stands still. While a handler runs, the lease is renewed. The default is 30,000, the
   * least is 100.
   */
  readonly lease?: number;
  /**
   * Gets the errors of handlers, and those of a database that does not answer. The default writes
   * them to the console.
   */
  readonly onError?: (error: unknown, failure: CronFailure) => unknown;
}

/**
 * Runs crons. Any number of processes may do so with the same database: each tick runs in one of
 * them. A cron never runs twice at the same time.
 *
 * Resolves when the signal is aborted or the database is closed, after all handlers have ended.
 *
 * ```ts
 * await runCrons(kv, [report, cleanup], { signal });
 * ```
 *
 * @throws {InvalidOptionError} if two crons have the same name, or an option is not valid.
 */
export async function runCrons(
  kv: KvLike,
  definitions: readonly CronDefinition[],
  options: RunCronsOptions = {},
): Promise<void> {
  const { signal, lease = 30_000, onError = reportToConsole } = options;
  if (!(typeof lease === "number" && lease >= 100 && lease <= 2 ** 31 - 1))
    throw new InvalidOptionError("lease", "must be a number of milliseconds from 100", "runCrons");
  const names = definitions.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new InvalidOptionError("definitions", `has two crons named ${twice}`, "runCrons");
  if (definitions.length === 0 || signal?.aborted) return;
  const ending = new AbortController();
  const end = () => ending.abort(signal?.reason);
  signal?.addEventListener("abort", end);
  const settings = {
    lease,
    signal: ending.signal,
    onError: (error: unknown, failure: CronFailure) => {
      const fail = (other: unknown) => reportToConsole(other, failure);
      try {
        // It may be an async function, whose rejection would end the process.
        Promise.resolve(onError(error, failure)).catch(fail);
      } catch (other) {
        fail(other);
      }
    },
  };
  const stopWaiting = onClose(kv as Kv, keysOf(names[0]!).plan, end);
  try {
    const runners = definitions.map((each) => new CronRunner(kv as Kv, each, settings));
    await Promise.all(runners.map((runner) => runner.run()));
  } finally {
    signal?.removeEventListener("abort", end);
    await stopWaiting();
  }
}

function reportToConsole(error: unknown, { name, tick, attempt }: CronFailure): void {
  const what =
    tick === undefined
      ? `The database of the cron ${name} has failed:`
      : `The cron ${name} has failed at ${tick.toISOString()}, attempt ${attempt}:`;
  try {
    console.error(what, error);
  } catch {
    // A thrown value may throw again when it is converted to text.
    console.error(what, "(it cannot be shown)");
  }
}
