import { type AnyDatabase, migrationStatus } from "@keywright/orm";
import type { MigrationPlan } from "@keywright/orm/migrate";
import type { Terminal } from "../../terminal/terminal.js";
import { keyCount } from "../../terminal/text/key-count.js";
import { type ModelPreview, previewRows } from "./preview-rows.js";

/** Returns the previews of the models with rows to change. Writes nothing. */
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

/** Returns the models whose rows the plan starts to change, not those that are being changed. */
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
