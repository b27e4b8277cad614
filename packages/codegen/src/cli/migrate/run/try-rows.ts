import { type AnyDatabase, type MigrationPlan, migrationStatus } from "@keywright/orm";
import { keyCount } from "../../terminal/key-count.js";
import type { Terminal } from "../../terminal/terminal.js";
import { type ModelPreview, previewRows } from "./preview-rows.js";

/**
 * Tries the changes of all rows of some models, those that are planned or under way, and shows how far that has come. Nothing is
 * written.
 *
 * @returns what would become of the rows, for each model that has some.
 */
export async function tryRows(
  terminal: Terminal,
  database: AnyDatabase,
  models: Iterable<string>,
  { rowsPerSecond }: { readonly rowsPerSecond?: number },
): Promise<readonly ModelPreview[]> {
  const previews: ModelPreview[] = [];
  for (const model of models) {
    const { update, stop } = keyCount(terminal, `${model}  rows tried`, false);
    const options = { rowsPerSecond, onRows: update };
    const preview = await previewRows(database, model, options).finally(stop);
    if (preview.rowCount > 0) previews.push(preview);
  }
  return previews;
}

/** The models of which a plan begins a change of all rows: not those of which one is under way. */
export async function newlyChanged(
  database: AnyDatabase,
  { steps }: MigrationPlan,
): Promise<ReadonlySet<string>> {
  const changed = new Set(
    steps.flatMap(({ kind, model }) => (kind === "transform-rows" ? model : [])),
  );
  if (changed.size === 0) return changed;
  const { models } = await migrationStatus(database);
  for (const { model, transform } of models) if (transform !== null) changed.delete(model);
  return changed;
}
