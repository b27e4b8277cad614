import type { MigrationProgress } from "@keywright/orm";
import { reporterFor } from "./reporter-for.js";

export interface MigrationProgressReporter {
  /** The `onProgress` option of `migrate`. It can be passed without its object. */
  readonly onProgress: (progress: MigrationProgress) => void;
  /**
   * Ends the bar, or writes the last line, and shows the cursor. It may be called twice, or before
   * any progress.
   */
  readonly stop: () => void;
}

/**
 * Shows the progress of `migrate`. On a terminal it shows a bar with rows, rows per second and the
 * time left. Elsewhere it writes plain lines, at most one per second. There are no colors if
 * `NO_COLOR` is set.
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
 * @param options.stream the stream to write to. The default is standard error.
 */
export function migrationProgress(
  options: { readonly stream?: NodeJS.WriteStream } = {},
): MigrationProgressReporter {
  return reporterFor<MigrationProgress>(options.stream, (progress) => progress);
}
