import type { ShownProgress } from "./progress-text.js";

/** Shows the progress of `migrate`, one build after another. */
export interface Reporter {
  show(progress: ShownProgress): void;
  /** Ends the current bar or line. Does nothing if there is none. */
  stop(): void;
}
