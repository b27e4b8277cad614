import { type Progress, ProgressMeter } from "@keywright/core";
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
  const { onProgress, stop } = reporterFor(options.stream, (progress: Progress) => {
    return { ...progress, model };
  });
  const meter = new ProgressMeter(onProgress);
  let isStarted = false;
  const update = (rowsDone: number, rowsTotal: number) => {
    if (!isStarted) meter.begin("writing", rowsDone);
    isStarted = true;
    meter.advance(rowsDone, rowsTotal);
  };
  return { update, stop };
}
