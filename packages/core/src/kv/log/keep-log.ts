import { LogUnsupportedError } from "../../errors/log-errors.js";
import type { SharedEngine } from "../open/shared-engine.js";
import type { LogSettings } from "./log-options.js";
import { readLogState } from "./log-state.js";

/**
 * Begins to keep a log, changes how long it is kept, or ends it. Releases the engine if it fails.
 *
 * @throws {LogUnsupportedError} if the engine cannot keep a log, or if another process owns the
 * database and does not do what was asked for.
 */
export async function keepLog(shared: SharedEngine, settings: LogSettings | false): Promise<void> {
  try {
    await changeLog(shared, settings);
  } catch (error) {
    await shared.release();
    throw error;
  }
}

/** The same for an engine that stays open. */
export async function changeLog(
  { engine, log }: SharedEngine,
  settings: LogSettings | false,
): Promise<void> {
  if (engine.listen === undefined) await (settings === false ? log.end() : log.keep(settings));
  else if (((await readLogState(engine)) !== undefined) !== (settings !== false))
    throw ownedByOther();
}

/** @throws {LogUnsupportedError} if this process cannot begin a log. */
export function assertKeepsLog({ engine }: SharedEngine): void {
  if (engine.listen !== undefined) throw ownedByOther();
}

function ownedByOther(): LogUnsupportedError {
  const reason = "another process owns the database; give the option log to that process";
  return new LogUnsupportedError(reason);
}
