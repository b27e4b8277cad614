import { rowManifest } from "../../state/schema/manifests/row-manifest.js";
import { schemaFunctions, wholeRow } from "../../state/schema/manifests/schema-functions.js";
import { compareRows } from "../../state/schema/upgrade/compare-rows.js";
import type { ModelFacts, PlanWarning } from "./migration-plan.js";

/**
 * Warns of functions in a model's schema that the database does not know. Stored rows may not be
 * what these functions accept or return. Fields with another change have steps instead.
 */
export function planWarnings({ model, entry, storedRow }: ModelFacts): PlanWarning[] {
  const to = rowManifest(model.schema, model.primaryKey);
  if (storedRow === undefined || entry.schema?.accepts.includes(to.hash)) return [];
  const { functions: recorded = {} } = storedRow;
  const changes = compareRows(storedRow, to);
  const warnings: PlanWarning[] = [];
  for (const [name, hash] of Object.entries(schemaFunctions(model.schema))) {
    const isKnown = Object.hasOwn(recorded, name) && recorded[name] === hash;
    if (isKnown || changes.some(({ field }) => field === name)) continue;
    const isField = name !== wholeRow;
    const subject = isField ? `the field ${name} of ${model.name}` : `the rows of ${model.name}`;
    const advice = isField ? ` with changes: [${JSON.stringify(name)}]` : "";
    const reason = `The functions in the schema of ${subject} (transforms, refinements, z.custom) have changed, or are built in another way. Stored rows stay as they are and are not checked. If they must change, write a migration${advice}.`;
    warnings.push({ model: model.name, ...(isField && { field: name }), reason });
  }
  return warnings;
}
