import { nextTurn as setImmediate } from "#platform";
import type { Engine } from "../../engine/engine.js";
import { consumerLeaseKey } from "../../engine/log/consumer-keys.js";
import { logRecords } from "../../engine/log/log-keys.js";
import { ConsumerLostError, LogOffError } from "../../errors/log-errors.js";
import { readLogState } from "../log/log-state.js";
import {
  activeHolders,
  ConsumerHold,
  type ConsumerStore,
  currentProcess,
  readConsumer,
} from "./consumer-hold.js";
import { decodeLease, decodePosition } from "./consumer-records.js";

export interface TakeOptions {
  /** Where a new consumer begins: `"start"`, `"now"` or a versionstamp. */
  readonly from: string;
  readonly timeToLive: number;
  /** Ends the wait for the lease of another process. */
  readonly signal: AbortSignal;
  /** True if no other process can have the database open. */
  readonly isAlone: () => boolean;
}

/** A version of the lease, and since when this process knows it, by the monotonic clock. */
interface ObservedLease {
  readonly versionstamp: string;
  readonly since: number;
}

/**
 * Takes a consumer, as soon as no other process has it, and makes it if it does not exist. A lease
 * is over if it has not changed for its time to live by the clock of this process, so it does not
 * matter how the clocks of the others are set. Returns undefined if the signal was aborted.
 *
 * @throws {ConsumerLostError} if the consumer was removed during the wait.
 * @throws {LogOffError} if the consumer is new, and the database keeps no log.
 */
export async function takeConsumer(
  store: ConsumerStore,
  name: string,
  { from, timeToLive, signal, isAlone }: TakeOptions,
): Promise<ConsumerHold | undefined> {
  let observed: ObservedLease | undefined;
  let isKnown = false;
  while (!signal.aborted) {
    const stored = await readConsumer(store, name);
    if (stored.position === undefined && isKnown) throw new ConsumerLostError(name, "removed");
    isKnown = stored.position !== undefined;
    const lease = stored.lease && decodeLease(stored.lease.value);
    if (stored.position !== undefined && stored.lease !== undefined && lease !== undefined) {
      const { versionstamp } = stored.lease;
      const now = performance.now();
      if (observed?.versionstamp !== versionstamp) observed = { versionstamp, since: now };
      const hasEnded =
        lease.process === currentProcess() ? !activeHolders.has(lease.holder) : isAlone();
      const remaining = observed.since + lease.timeToLive - now;
      if (!hasEnded && remaining > 0) {
        await leaseChange(store.engine, name, versionstamp, remaining, signal);
        continue;
      }
    }
    const position =
      stored.position === undefined
        ? await positionOf(store.engine, from)
        : decodePosition(stored.position.value).position;
    const versions = [
      stored.position?.versionstamp ?? null,
      stored.lease?.versionstamp ?? null,
    ] as const;
    const hold = await ConsumerHold.take(store, name, position, versions, timeToLive);
    if (hold !== undefined) return hold;
    // Another process may have taken it.
    await setImmediate();
  }
  return undefined;
}

/** Resolves when a lease has changed, the time is over or the signal is aborted. */
async function leaseChange(
  engine: Engine,
  name: string,
  versionstamp: string,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  const key = consumerLeaseKey(name);
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const unwatch = engine.watch([key], () => wake());
  const timer = setTimeout(wake, milliseconds);
  signal.addEventListener("abort", wake);
  try {
    // It may have changed before it was watched.
    if (signal.aborted || (await engine.get(key))?.versionstamp !== versionstamp) return;
    await woken;
  } finally {
    unwatch();
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  }
}

async function positionOf(engine: Engine, from: string): Promise<string> {
  const state = await readLogState(engine);
  if (state === undefined) throw new LogOffError();
  if (from === "start") return state.since;
  if (from !== "now") return from;
  const [last] = await engine.getRange({ range: logRecords, limit: 1, reverse: true });
  return last?.versionstamp ?? state.since;
}
