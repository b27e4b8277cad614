import type { CompiledIndex } from "../../model/compiled-model.js";
import { rowManifest } from "../../state/schema/manifests/row-manifest.js";
import { affectedIndexes } from "../../state/schema/upgrade/affected-indexes.js";
import { findUpgrade, type RowUpgrade } from "../../state/schema/upgrade/row-upgrade.js";
import type { ModelFacts } from "./migration-plan.js";

/** Returns the upgrade of the stored rows to the model, or undefined if they need none. */
export function plannedUpgrade({
  model,
  entry,
  storedRow,
  migrations,
}: ModelFacts): RowUpgrade | undefined {
  const to = rowManifest(model.schema, model.primaryKey);
  const isKnown = storedRow === undefined || entry.schema?.accepts.includes(to.hash) === true;
  return isKnown ? undefined : findUpgrade(storedRow, model, to, migrations);
}

/**
 * Returns those of some indexes whose entries the planned upgrade may change. Includes the indexes
 * that a running transform would affect in another way on its way to the model.
 */
export function indexesAffectedByUpgrade(
  facts: ModelFacts,
  indexes: readonly CompiledIndex[] = facts.model.indexes,
): readonly CompiledIndex[] {
  const { model, earlierRows, migrations } = facts;
  const upgrade = plannedUpgrade(facts);
  if (upgrade === undefined) return [];
  const to = rowManifest(model.schema, model.primaryKey);
  const upgrades = upgrade.isIdentity
    ? []
    : earlierRows.map((earlier) => earlier && findUpgrade(earlier, model, to, migrations));
  const changes = [upgrade, ...upgrades].filter((each) => each !== undefined);
  return affectedIndexes({ ...model, indexes }, changes);
}
