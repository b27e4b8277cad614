import { isDeepStrictEqual } from "node:util";
import type { AnyDatabase, RowId } from "@keywright/orm";
import { type PreviewedRow, previewMigration } from "@keywright/orm/migrate";
import { createPacer } from "../../terminal/process/pacer.js";

type ConvertedRow = Extract<PreviewedRow, { readonly after: unknown }>;
type RejectedRow = Exclude<PreviewedRow, ConvertedRow>;

export interface ModelPreview {
  readonly model: string;
  readonly rows: readonly ConvertedRow[];
  /** The number of rows that were tried: all rows that do not have the new schema yet. */
  readonly rowCount: number;
  /** The number of rows that it would change. Others may already be as they should be. */
  readonly changedCount: number;
  /** The first rows that it could not change, or that an index could not hold. */
  readonly failed: readonly RejectedRow[];
  readonly failedCount: number;
}

export interface PreviewRowsOptions {
  readonly rowsPerSecond?: number | undefined;
  readonly onRows?: (rows: number) => void;
}

const maxKept = 5;

const maxPageRows = 500;

/** Tries a migration that is planned or running on all rows of its model. Writes nothing. */
export async function previewRows(
  database: AnyDatabase,
  model: string,
  { rowsPerSecond, onRows }: PreviewRowsOptions = {},
): Promise<ModelPreview> {
  const rows: ConvertedRow[] = [];
  const failed: RejectedRow[] = [];
  let [rowCount, changedCount, failedCount] = [0, 0, 0];
  let after: RowId | undefined;
  const { pageRows, wait } = createPacer(maxPageRows, rowsPerSecond);
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
    await wait(rowCount);
  }
}

type Row = Readonly<Record<string, unknown>>;

/** Returns the fields of a row that are missing or different in another version of it. */
export function differingFields(row: Row, other: Row): Row {
  const differing = Object.entries(row).filter(
    ([field, value]) => !(Object.hasOwn(other, field) && isDeepStrictEqual(value, other[field])),
  );
  return Object.fromEntries(differing);
}

function isSameRow(row: Row, other: Row): boolean {
  return [differingFields(row, other), differingFields(other, row)].every(
    (fields) => Object.keys(fields).length === 0,
  );
}
