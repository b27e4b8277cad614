import { nextTurn as setImmediate } from "@keywright/core/platform";

/**
 * Waits for one turn of the event loop. A database in memory answers without ending the current
 * turn. A long series of reads and writes must therefore call this, so that timers, signals and
 * other callers get their turn.
 */
export async function yieldToEventLoop(): Promise<void> {
  await setImmediate();
}
