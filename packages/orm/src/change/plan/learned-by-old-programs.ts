import type { CompiledIndex } from "../../model/compiled-model.js";
import { isMaintainedByData } from "../../state/schema/manifests/data-definition.js";
import { indexManifest } from "../../state/schema/manifests/index-manifest.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { rowManifest } from "../../state/schema/manifests/row-manifest.js";
import type { ModelFacts } from "./migration-plan.js";

/**
 * True if programs with the models before a migration maintain a new index, because its definition
 * is data that they read from the catalog.
 */
export function isLearnedByOldPrograms(facts: ModelFacts, index: CompiledIndex): boolean {
  return isMaintainedByData(indexManifest(index), fieldsBefore(facts), fieldsNow(facts));
}

type Fields = RowManifest["fields"];

export function fieldsNow({ model }: ModelFacts): Fields {
  return rowManifest(model.schema, model.primaryKey).fields;
}

export function fieldsBefore(facts: ModelFacts): Fields {
  return facts.storedRow?.fields ?? fieldsNow(facts);
}
