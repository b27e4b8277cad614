import type { MigrationProgress } from "@keywright/orm";
import { reporterFor } from "./reporter-for.js";

/** Shows how far `migrate` has come. */
export interface MigrationProgressReporter {
  /** What `migrate` takes as `onProgress`. It can be passed on its own. */
  readonly onProgress: (progress: MigrationProgress) => void;
  /** Ends the bar, or writes the last line, and shows the cursor. It may be called twice, or before any progress. */
  readonly stop: () => void;
}

/**
 * Shows the progress of `migrate`: as a bar with rows, rows per second and time left on a terminal, and elsewhere as
 * plain lines, one a second at the most. Without colors where `NO_COLOR` is set.
 *
 * ```ts
 * const progress = migrationProgress();
 * try {
 *   await migrate(db, { onProgress: progress.onProgress });
 * } finally {
 *   progress.stop();
 * }
 * ```
 *
 * @param options.stream where to; standard error without it.
 */
export function migrationProgress(
  options: { readonly stream?: NodeJS.WriteStream } = {},
): MigrationProgressReporter {
  const reporter = reporterFor(options.stream);
  return { onProgress: reporter.show, stop: reporter.stop };
}
