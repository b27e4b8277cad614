import type { ShownProgress } from "./progress-text.js";

export interface Reporter {
  show(progress: ShownProgress): void;
  /** Ends the current bar or line. Does nothing if there is none. */
  stop(): void;
}
