import { setTimeout as sleep } from "node:timers/promises";
import { type AnyDatabase, type PreviewedRow, previewMigration, type RowId } from "@keywright/orm";
import { isSameRow } from "./row-difference.js";

type ConvertedRow = Extract<PreviewedRow, { readonly after: unknown }>;
type RejectedRow = Exclude<PreviewedRow, ConvertedRow>;

/** The result of trying a migration on the rows of a model. */
export interface ModelPreview {
  readonly model: string;
  /** The first rows that it would change. */
  readonly rows: readonly ConvertedRow[];
  /** The number of rows that were tried: all rows that do not have the new schema yet. */
  readonly rowCount: number;
  /** The number of rows that it would change. Others may already be as they should be. */
  readonly changedCount: number;
  /** The first rows that it could not change, or that an index could not hold. */
  readonly failed: readonly RejectedRow[];
  readonly failedCount: number;
}

/** Options of {@link previewRows}. */
export interface PreviewRowsOptions {
  /** The maximum number of rows per second. */
  readonly rowsPerSecond?: number | undefined;
  /** Called with the number of rows that were tried so far. */
  readonly onRows?: (rows: number) => void;
}

/** The maximum number of rows of each kind in a result. */
const maxKept = 5;

/** The maximum number of rows in a page, all of which are in memory. */
const maxPageRows = 500;

/**
 * Tries the migration of a model that is planned or under way on all of its rows. Writes nothing.
 */
export async function previewRows(
  database: AnyDatabase,
  model: string,
  { rowsPerSecond = Number.POSITIVE_INFINITY, onRows }: PreviewRowsOptions = {},
): Promise<ModelPreview> {
  const rows: ConvertedRow[] = [];
  const failed: RejectedRow[] = [];
  let [rowCount, changedCount, failedCount] = [0, 0, 0];
  let after: RowId | undefined;
  const startedAt = performance.now();
  // A page is at most a quarter of a second's rows, so that reading is paced evenly.
  const pageRows = Math.max(1, Math.min(maxPageRows, Math.floor(rowsPerSecond / 4)));
  for (;;) {
    const page = await previewMigration(database, { model, rows: pageRows, after });
    for (const row of page) {
      rowCount++;
      if (!("after" in row)) {
        if (++failedCount <= maxKept) failed.push(row);
      } else if (!isSameRow(row.before, row.after)) {
        if (++changedCount <= maxKept) rows.push(row);
      }
    }
    onRows?.(rowCount);
    if (page.length < pageRows) return { model, rows, rowCount, changedCount, failed, failedCount };
    after = page.at(-1)?.id;
    const delay = startedAt + (rowCount / rowsPerSecond) * 1000 - performance.now();
    if (delay > 0) await sleep(delay);
  }
}
