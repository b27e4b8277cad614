import type { ShownProgress } from "./progress-text.js";

/** Shows the progress of `migrate`, one build after another. */
export interface Reporter {
  show(progress: ShownProgress): void;
  /** Ends what is shown; does nothing where nothing is. */
  stop(): void;
}
