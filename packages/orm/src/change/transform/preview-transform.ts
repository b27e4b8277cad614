import type { KvKeyPart } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import type { RowIssue } from "../../errors/row-issue.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { indexEntries } from "../../model/keys/index-entries.js";
import { partsOfId, pointerOf } from "../../model/keys/primary-key.js";
import { assertArgument, positiveInteger } from "../../model/shape.js";
import type { UpgradeRow } from "../../state/catalog/row-schemas.js";
import { type AnyDatabase, tableContextOf } from "../../state/context/any-database.js";
import { fullPace, scan } from "../../state/run/page-reader.js";
import { readFacts } from "../plan/read-facts.js";
import { failureOf } from "./plan-transform.js";
import { type RowFailure, upgradeRow } from "./upgraded-row.js";

/** Selects the rows of a preview. */
export interface PreviewOptions {
  /** The maximum number of rows; 10 by default. */
  readonly rows?: number | undefined;
  /** The primary key of the row after which to begin. Begins at the first row by default. */
  readonly after?: RowId | undefined;
}

/** The result that a transform would have for one row. */
export type PreviewedRow =
  | { readonly id: RowId; readonly before: AnyRow; readonly after: AnyRow }
  | {
      readonly id: RowId;
      /** The stored value. It is not necessarily a row. */
      readonly before: unknown;
      /** Why the row would fail, or why an index of the model could not hold it. */
      readonly reason: string;
      readonly issues: readonly RowIssue[];
    };

const defaultRows = 10;

/**
 * Shows what the planned or running transform of a model makes of some rows, in the order of their
 * keys. Writes nothing. Of a running transform, it shows only rows that are not done yet. It does
 * not detect that another row has the same value of a unique index; only the transform itself does.
 *
 * @returns an empty list if no transform is planned or running.
 * @throws {InvalidArgumentError} if `rows` is not a positive integer.
 */
export async function previewMigration(
  database: AnyDatabase,
  query: PreviewOptions & { readonly model: string },
): Promise<readonly PreviewedRow[]> {
  const { rows = defaultRows } = query;
  assertArgument(query.model, "rows", rows, positiveInteger, "previewMigration");
  const context = tableContextOf(database, query.model);
  const { model, upgrade } = await readFacts(context);
  const { snapshot } = context.catalog;
  if (upgrade === undefined || !snapshot.upgradesRows) return [];
  const previewed: PreviewedRow[] = [];
  const after = query.after === undefined ? null : [model.place, ...partsOfId(query.after)];
  const pace = { ...fullPace, batchRows: rows, readsAhead: false };
  for await (const { entries } of scan<AnyRow>(context, pace, [model.place], after)) {
    for (const { key, value, versionstamp } of entries) {
      const primaryKey = key.slice(1);
      if (primaryKey.length !== model.primaryKey.length) continue;
      const up = snapshot.upgradeOf(versionstamp);
      if (up === undefined) continue;
      previewed.push(previewRow(model, up, primaryKey, value));
      if (previewed.length === rows) return previewed;
    }
  }
  return previewed;
}

function previewRow(
  model: CompiledModel,
  up: UpgradeRow,
  primaryKey: readonly KvKeyPart[],
  before: AnyRow,
): PreviewedRow {
  const id = pointerOf(primaryKey);
  const failWith = ({ reason, issues = [] }: RowFailure) => ({ id, before, reason, issues });
  const upgraded = upgradeRow(model, up, before, primaryKey);
  if (!upgraded.ok) return failWith(upgraded.failure);
  try {
    indexEntries(model, model.indexes, upgraded.row, primaryKey);
  } catch (error) {
    return failWith(failureOf(error));
  }
  return { id, before, after: upgraded.row };
}
