import { setTimeout as sleep } from "node:timers/promises";
import { type AnyDatabase, type PreviewedRow, previewMigration, type RowId } from "@keywright/orm";
import { isSameRow } from "./row-difference.js";

type TakenRow = Extract<PreviewedRow, { readonly after: unknown }>;
type RefusedRow = Exclude<PreviewedRow, TakenRow>;

/** What a change of all rows of a model would make of them. */
export interface ModelPreview {
  readonly model: string;
  /** The first that it would change. */
  readonly rows: readonly TakenRow[];
  /** How many rows were tried: all that are not of the new schema yet. */
  readonly rowCount: number;
  /** How many of them would be other rows then: some may be as they should be. */
  readonly changedCount: number;
  /** The first that would stay as they are, or that an index could not hold. */
  readonly failed: readonly RefusedRow[];
  readonly failedCount: number;
}

/** How rows are tried. */
export interface PreviewRowsOptions {
  /** No more rows are read in a second. */
  readonly rowsPerSecond?: number | undefined;
  /** Called with the number of rows that were tried so far. */
  readonly onRows?: (rows: number) => void;
}

/** So many rows of each kind are kept. */
const mostKept = 5;

/** So many rows are in memory at a time. */
const mostPageRows = 500;

/** Tries the change of all rows of a model that is planned, or under way, on each of them. */
export async function previewRows(
  database: AnyDatabase,
  model: string,
  { rowsPerSecond = Number.POSITIVE_INFINITY, onRows }: PreviewRowsOptions = {},
): Promise<ModelPreview> {
  const rows: TakenRow[] = [];
  const failed: RefusedRow[] = [];
  let [rowCount, changedCount, failedCount] = [0, 0, 0];
  let after: RowId | undefined;
  const startedAt = performance.now();
  // So many rows are a quarter of a second's work, as of a run.
  const pageRows = Math.max(1, Math.min(mostPageRows, Math.floor(rowsPerSecond / 4)));
  for (;;) {
    const page = await previewMigration(database, { model, rows: pageRows, after });
    for (const row of page) {
      rowCount++;
      if (!("after" in row)) {
        if (++failedCount <= mostKept) failed.push(row);
      } else if (!isSameRow(row.before, row.after)) {
        if (++changedCount <= mostKept) rows.push(row);
      }
    }
    onRows?.(rowCount);
    if (page.length < pageRows) return { model, rows, rowCount, changedCount, failed, failedCount };
    after = page.at(-1)?.id;
    const free = startedAt + (rowCount / rowsPerSecond) * 1000 - performance.now();
    if (free > 0) await sleep(free);
  }
}
