import { setImmediate } from "node:timers/promises";

/**
 * Waits until the event loop has been round once. A database in memory answers without leaving the present turn of it, so
 * that who reads and writes for long has to give timers, signals and other callers their turn.
 */
export async function letOthersRun(): Promise<void> {
  await setImmediate();
}
