import { type AnyDatabase, tableContexts } from "../../state/context/any-database.js";
import type { RowMigration } from "../../state/schema/define-migration.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { readFacts } from "./read-facts.js";

/** A model whose rows have one schema in the program and another in the database. */
export interface ChangedRows {
  /** The name in the model's definition. */
  readonly model: string;
  /** The schema in the database. If migrations lead from it to other schemas, the last of these. */
  readonly from: RowManifest;
  /** The schema in the program. */
  readonly to: RowManifest;
}

/**
 * Returns the models whose rows have another schema in the database, if no migration leads from
 * there to the program's schema. Includes models that need no migration. Writes nothing.
 *
 * @throws {ModelDroppedError} if a model was dropped, or the database emptied, after it was opened.
 */
export async function findChangedRows(database: AnyDatabase): Promise<ChangedRows[]> {
  const changed: ChangedRows[] = [];
  for (const context of tableContexts(database).values()) {
    const facts = await readFacts(context);
    const { model, storedRow, manifest: to, upgrade } = facts;
    if (storedRow === undefined || storedRow.hash === to.hash || facts.isAccepted) continue;
    if (upgrade !== undefined && upgrade.steps.length > 0) continue;
    const own = facts.migrations.filter((migration) => migration.model === model.name);
    const from = upgrade ? storedRow : followMigrations(storedRow, own);
    changed.push({ model: model.name, from, to });
  }
  return changed;
}

function followMigrations(stored: RowManifest, migrations: readonly RowMigration[]): RowManifest {
  const visited = new Set([stored.hash]);
  for (let current = stored; ; ) {
    const next = migrations.find(
      ({ from, to }) => from.hash === current.hash && !visited.has(to.hash),
    );
    if (next === undefined) return current;
    current = next.to;
    visited.add(current.hash);
  }
}
