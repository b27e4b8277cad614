import type { ShownProgress } from "./progress-text.js";

export interface Reporter {
  show(progress: ShownProgress): void;
  /** Ends the current bar or line. Does nothing if there is none. */
  stop(): void;
}

/** Shows the progress of one kind of work. */
export interface ProgressReporter<P> {
  readonly onProgress: (progress: P) => void;
  readonly stop: () => void;
}
