import { type AnyDatabase, type PreviewedRow, previewMigration, type RowId } from "@keywright/orm";

type ChangedRow = Extract<PreviewedRow, { readonly after: unknown }>;
type RefusedRow = Exclude<PreviewedRow, ChangedRow>;

/** What a change of all rows of a model would make of them. */
export interface ModelPreview {
  readonly model: string;
  /** The first that it would change. */
  readonly rows: readonly ChangedRow[];
  /** How many rows were tried: all that are to be changed. */
  readonly rowCount: number;
  /** The first that would stay as they are, or that an index could not hold. */
  readonly failed: readonly RefusedRow[];
  readonly failedCount: number;
}

/** So many rows are in memory at a time. */
const pageRows = 500;

/**
 * Tries the change of all rows of a model that is planned, or under way, on each of them.
 *
 * @param most so many rows of each kind are kept.
 */
export async function previewRows(
  database: AnyDatabase,
  model: string,
  most: number,
): Promise<ModelPreview> {
  const rows: ChangedRow[] = [];
  const failed: RefusedRow[] = [];
  let [rowCount, failedCount] = [0, 0];
  let after: RowId | undefined;
  for (;;) {
    const page = await previewMigration(database, { model, rows: pageRows, after });
    for (const row of page) {
      rowCount++;
      if ("after" in row) {
        if (rows.length < most) rows.push(row);
      } else if (++failedCount <= most) failed.push(row);
    }
    if (page.length < pageRows) return { model, rows, rowCount, failed, failedCount };
    after = page.at(-1)?.id;
  }
}
