import { reporterFor } from "./reporter-for.js";

export interface RowProgressReporter {
  /**
   * Reports the number of rows that are done and the total number. The rate is measured from the
   * first call.
   */
  readonly update: (rowsDone: number, rowsTotal: number) => void;
  /**
   * Ends the bar, or writes the last line, and shows the cursor. It may be called twice, or before
   * any update.
   */
  readonly stop: () => void;
}

/**
 * Shows the progress of loading rows in a program, in the same way as `migrationProgress` shows
 * that of a migration.
 *
 * @param model the name of the model whose rows are loaded.
 * @param options.stream the stream to write to. The default is standard error.
 */
export function rowProgress(
  model: string,
  options: { readonly stream?: NodeJS.WriteStream } = {},
): RowProgressReporter {
  const reporter = reporterFor(options.stream);
  let first: { readonly rowsDone: number; readonly at: number } | undefined;
  const update = (rowsDone: number, rowsTotal: number) => {
    const now = performance.now();
    first ??= { rowsDone, at: now };
    const seconds = (now - first.at) / 1000;
    const rowsPerSecond = seconds > 0 ? (rowsDone - first.rowsDone) / seconds : 0;
    const rowsLeft = rowsTotal - rowsDone;
    const secondsLeft =
      rowsLeft <= 0 ? 0 : rowsPerSecond > 0 ? rowsLeft / rowsPerSecond : undefined;
    const rows = { rowsDone, rowsTotal, rowsPerSecond, secondsLeft };
    reporter.show({ model, indexes: [], phase: "building", ...rows });
  };
  return { update, stop: reporter.stop };
}
