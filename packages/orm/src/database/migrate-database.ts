import { type MigrateOptions, type MigrationResult, migrateTables } from "../migrate/migrate.js";
import { type AnyDatabase, tableContexts } from "./database.js";

/**
 * Builds every index that the models of a database declare and the database does not have yet, beside its writers, who
 * see no error but a true violation of a unique index. A run that was stopped or killed goes on where it was.
 *
 * ```ts
 * const result = await migrate(db, { onProgress: ({ rowsDone, rowsTotal }) => console.log(rowsDone, rowsTotal) });
 * ```
 *
 * How a run ended is data: `result.status` is `"done"`, `"stopped"` by the signal, or `"duplicates"` where rows share
 * the value of a new unique index; the result lists them, and a run after they were changed makes the index readable.
 *
 * @throws {StaleSchemaError} where the database has indexes that this program does not know.
 */
export async function migrate(
  database: AnyDatabase,
  options: MigrateOptions = {},
): Promise<MigrationResult> {
  return await migrateTables(tableContexts(database).values(), options);
}
