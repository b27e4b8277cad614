import type { KvKeyPart } from "@keywright/core";
import { type AnyDatabase, tableContextOf } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import type { RowId } from "../../errors/orm-error.js";
import type { RowIssue } from "../../errors/row-errors.js";
import { indexEntries } from "../../indexes/index-entries.js";
import { pointerOf } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { findUpgrade, type RowUpgrade } from "../../schema/row-upgrade.js";
import { readFacts } from "../plan/plan-facts.js";
import { maxBatchRows } from "../run/migration-run.js";
import { nextRows } from "../run/scan-rows.js";
import { failureOf } from "./plan-transform.js";
import { type RowFailure, upgradeRow } from "./upgraded-row.js";

/** Which rows are looked at. */
export interface PreviewOptions {
  /** So many at the most; 10 without it. */
  readonly rows?: number | undefined;
  /** The row behind which they begin, by its primary key; from the first one on without it. */
  readonly after?: RowId | undefined;
}

/** What a change of all rows would make of one. */
export type PreviewedRow =
  | { readonly id: RowId; readonly before: AnyRow; readonly after: AnyRow }
  | {
      readonly id: RowId;
      /** What is stored, which may be no row. */
      readonly before: unknown;
      /** Why it would be recorded as failed, or an index of the model could not hold it. */
      readonly reason: string;
      readonly issues: readonly RowIssue[];
    };

const defaultRows = 10;

/**
 * Shows what a change of all rows would do to some of them, in the order of their keys. Nothing is written. Where the change
 * is under way, only rows that it has not reached are looked at. That another row has a unique value is found out by the
 * change itself.
 *
 * @throws {RangeError} for a number of rows that is no positive integer.
 */
export async function previewTransform(
  context: TableContext,
  { up }: Pick<RowUpgrade, "up">,
  options: PreviewOptions = {},
): Promise<PreviewedRow[]> {
  const { rows = defaultRows } = options;
  if (!Number.isSafeInteger(rows) || rows < 1) {
    throw new RangeError(`rows is a positive integer, not ${rows}.`);
  }
  const { model, catalog } = context;
  await catalog.reload();
  const previewed: PreviewedRow[] = [];
  let after: readonly KvKeyPart[] | null = keyOf(options.after);
  for (;;) {
    const limit = Math.min(rows, maxBatchRows);
    const entries = await nextRows(context, after, limit);
    for (const { key, value, versionstamp } of entries) {
      const primaryKey = key.slice(1);
      if (primaryKey.length !== model.primaryKey.length) continue;
      if (isDone(context, versionstamp)) continue;
      previewed.push(previewRow(context, up, primaryKey, value));
      if (previewed.length === rows) return previewed;
    }
    if (entries.length < limit) return previewed;
    after = entries.at(-1)?.key.slice(1) ?? after;
  }
}

function keyOf(id: RowId | undefined): readonly KvKeyPart[] | null {
  if (id === undefined) return null;
  return Array.isArray(id) ? id : [id as KvKeyPart];
}

/** Whether a row is of the new schema already: a change that is under way has reached it. */
function isDone({ catalog }: TableContext, versionstamp: string): boolean {
  const { snapshot } = catalog;
  return snapshot.entry.transform !== undefined && snapshot.upgradeOf(versionstamp) === undefined;
}

function previewRow(
  { model }: TableContext,
  up: RowUpgrade["up"],
  primaryKey: readonly KvKeyPart[],
  before: AnyRow,
): PreviewedRow {
  const id = pointerOf(primaryKey);
  const fails = ({ reason, issues = [] }: RowFailure) => ({ id, before, reason, issues });
  const upgraded = upgradeRow(model, up, before, primaryKey);
  if (!upgraded.ok) return fails(upgraded.failure);
  try {
    indexEntries(model, model.indexes, upgraded.row, primaryKey);
  } catch (error) {
    return fails(failureOf(error));
  }
  return { id, before, after: upgraded.row };
}

/**
 * Shows what the change of a model's rows that is planned, or under way, makes of some of them. Writes nothing.
 *
 * @returns an empty list where none is.
 * @throws {RangeError} for a number of rows that is no positive integer.
 */
export async function previewMigration(
  database: AnyDatabase,
  query: PreviewOptions & { readonly model: string },
): Promise<readonly PreviewedRow[]> {
  const context = tableContextOf(database, query.model);
  const { model, storedRow, earlierRow, migrations } = await readFacts(context);
  const { manifest } = context.catalog.ownRows;
  const from = earlierRow ?? storedRow;
  const upgrade = from ? findUpgrade(from, model, manifest, migrations) : undefined;
  if (upgrade === undefined || upgrade.isIdentity) return [];
  return await previewTransform(context, upgrade, query);
}
