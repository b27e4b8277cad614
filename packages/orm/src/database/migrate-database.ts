import { InvalidArgumentError } from "../errors/query-errors.js";
import {
  type FailedRowsOptions,
  type FailedRowsPage,
  listFailedRows,
} from "../migrate/failed-rows.js";
import {
  type DuplicatesPage,
  type DuplicatesQuery,
  listDuplicates,
} from "../migrate/list-duplicates.js";
import { type MigrateOptions, type MigrationResult, migrateTables } from "../migrate/migrate.js";
import type { MigrationPlan } from "../migrate/migration-plan.js";
import { type MigrationStatus, migrationStatus as statusOf } from "../migrate/migration-status.js";
import { readFacts, readPlan } from "../migrate/plan-facts.js";
import {
  type PreviewedRow,
  type PreviewOptions,
  previewTransform,
} from "../migrate/preview-transform.js";
import { findUpgrade } from "../schema/row-upgrade.js";
import { type AnyDatabase, tableContextOf, tableContexts } from "./database.js";

/**
 * What leads from a database as it is to the models that it was opened with: steps in order, each with its class. Writes
 * nothing. `formatPlan` makes text of it; as it is, it is plain data.
 *
 * ```ts
 * console.log(formatPlan(await planMigration(db)));
 * ```
 *
 * @throws {StaleSchemaError} where the database was emptied since it was opened.
 */
export async function planMigration(database: AnyDatabase): Promise<MigrationPlan> {
  return await readPlan([...tableContexts(database).values()]);
}

/**
 * Brings a database to the models that it was opened with, by the steps of {@link planMigration}, beside its readers and
 * writers: builds new indexes and counters, rebuilds changed ones, removes dropped ones, and changes rows by the migrations that
 * the database was opened with. A run that was stopped or killed goes on where it was. One runner works at a time.
 *
 * ```ts
 * const result = await migrate(db, { onProgress: ({ rowsDone, rowsTotal }) => console.log(rowsDone, rowsTotal) });
 * ```
 *
 * How a run ended is data: see `result.status`. A run after `"duplicates"` or `"failed-rows"` looks at those rows again, and
 * duplicates are looked at by writers, too: an index goes readable when the last of them goes.
 *
 * @throws {StaleSchemaError} where the database has a newer schema than this program.
 * @throws {RangeError} for a `rowsPerSecond` that is no positive number.
 */
export async function migrate(
  database: AnyDatabase,
  options: MigrateOptions = {},
): Promise<MigrationResult> {
  return await migrateTables(tableContexts(database).values(), options);
}

/** What a database says of its migration: who is at work, the state of each index and how far it has come. */
export async function migrationStatus(database: AnyDatabase): Promise<MigrationStatus> {
  return await statusOf(tableContexts(database).values());
}

/** The rows that keep a unique index from being readable, by the value that they share, page by page. */
export async function findDuplicates(
  database: AnyDatabase,
  query: DuplicatesQuery & { readonly model: string; readonly index: string },
): Promise<DuplicatesPage> {
  const context = tableContextOf(database, query.model);
  const index = context.model.indexes.find(({ name }) => name === query.index);
  if (index === undefined)
    throw new InvalidArgumentError(query.model, "index", `there is no index ${query.index}`);
  return await listDuplicates(context, index, query);
}

/** The rows that a change of all rows could not take, page by page. */
export async function findFailedRows(
  database: AnyDatabase,
  query: FailedRowsOptions & { readonly model: string },
): Promise<FailedRowsPage> {
  return await listFailedRows(tableContextOf(database, query.model), query);
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
