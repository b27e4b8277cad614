import { type AnyDatabase, tableContexts } from "../../context/any-database.js";
import type { RowMigration } from "../../schema/define-migration.js";
import type { RowManifest } from "../../schema/manifest.js";
import { findUpgrade } from "../../schema/row-upgrade.js";
import { readFacts } from "./plan-facts.js";

/** A model whose rows are others in the program than in the database. */
export interface ChangedRows {
  /** The model's own name. */
  readonly model: string;
  /** The rows of the database; where migrations lead on from these, the rows that the last of them makes. */
  readonly from: RowManifest;
  /** The rows of the program. */
  readonly to: RowManifest;
}

/**
 * The models whose rows differ from those of the database and have no migration on the way: what a migration would lead from and
 * to. One that differs by nothing that needs a migration is among them. Writes nothing.
 *
 * @throws {StaleSchemaError} where the database was emptied since it was opened.
 */
export async function findChangedRows(database: AnyDatabase): Promise<ChangedRows[]> {
  const found: ChangedRows[] = [];
  for (const context of tableContexts(database).values()) {
    const { model, entry, storedRow, migrations } = await readFacts(context);
    const { manifest: to } = context.catalog.ownRows;
    if (storedRow === undefined || storedRow.hash === to.hash) continue;
    // The database has a newer schema, beside which this one may go on.
    if (entry.schema?.accepts.includes(to.hash)) continue;
    const own = migrations.filter((migration) => migration.model === model.name);
    const upgrade = findUpgrade(storedRow, model, to, own);
    if (upgrade !== undefined && upgrade.steps.length > 0) continue;
    found.push({ model: model.name, from: upgrade ? storedRow : lastOf(storedRow, own), to });
  }
  return found;
}

/** Where migrations lead from some rows, one behind the other. */
function lastOf(stored: RowManifest, migrations: readonly RowMigration[]): RowManifest {
  const passed = new Set([stored.hash]);
  for (let at = stored; ; ) {
    const next = migrations.find(({ from, to }) => from.hash === at.hash && !passed.has(to.hash));
    if (next === undefined) return at;
    at = next.to;
    passed.add(at.hash);
  }
}
