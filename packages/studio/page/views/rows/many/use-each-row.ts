import { useState } from "preact/hooks";
import type { StudioError } from "../../../../src/protocol/studio-error.js";
import { errorDetails } from "../../../api/call-error.js";
import type { ShownRow } from "../row-list.js";

export interface EachRow {
  readonly isRunning: boolean;
  readonly done: number;
  /** The rows that were not changed, and why. */
  readonly failed: readonly { readonly row: ShownRow; readonly error: StudioError }[];
  readonly isOver: boolean;
}

const before: EachRow = { isRunning: false, done: 0, failed: [], isOver: false };

/**
 * Changes rows one after another, each in a commit of its own that fails if the row has changed
 * since it was shown. A row that fails does not stop the others.
 */
export function useEachRow(): [
  EachRow,
  (rows: readonly ShownRow[], change: (row: ShownRow) => Promise<void>) => Promise<void>,
] {
  const [state, setState] = useState(before);
  const run = async (
    rows: readonly ShownRow[],
    change: (row: ShownRow) => Promise<void>,
  ): Promise<void> => {
    setState({ ...before, isRunning: true });
    for (const row of rows) {
      await change(row).then(
        () => setState((last) => ({ ...last, done: last.done + 1 })),
        (failure) =>
          setState((last) => ({
            ...last,
            failed: [...last.failed, { row, error: errorDetails(failure) }],
          })),
      );
    }
    setState((last) => ({ ...last, isRunning: false, isOver: true }));
  };
  return [state, run];
}
