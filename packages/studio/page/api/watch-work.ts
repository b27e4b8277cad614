import type { StudioError } from "../../src/protocol/studio-error.js";
import type { WorkState } from "../../src/protocol/work.js";
import { watchEvents } from "./watch-events.js";

/**
 * Calls `onState` with the jobs and crons, now and when they change, until the result is called.
 */
export function watchWork(
  onState: (state: WorkState) => void,
  onFailure: (error: StudioError) => void,
): () => void {
  return watchEvents<WorkState>({ url: () => "/api/work", onMessage: onState, onFailure });
}
