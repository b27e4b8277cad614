import { reporterFor } from "./reporter-for.js";

/** Shows how far a load of rows has come. */
export interface RowProgressReporter {
  /** Says how many rows are done, of how many. The rate is measured from the first call on. */
  readonly update: (rowsDone: number, rowsTotal: number) => void;
  /** Ends the bar, or writes the last line, and shows the cursor. It may be called twice, or before any update. */
  readonly stop: () => void;
}

/**
 * Shows the progress of a program's own load of rows as `migrationProgress` shows that of a migration.
 *
 * @param model what the rows are of.
 * @param options.stream where to; standard error without it.
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
