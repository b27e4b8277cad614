import type { Counter } from "../../model/aggregates/counter.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { isMaintainedByData, isSameField } from "../../schema/manifests/data-definition.js";
import { indexManifest } from "../../schema/manifests/index-manifest.js";
import type { RowManifest } from "../../schema/manifests/manifest.js";
import { rowManifest } from "../../schema/manifests/row-manifest.js";
import type { ModelFacts } from "./migration-plan.js";

/**
 * True if programs with the models before a migration maintain a new index, because its definition
 * is data that they read from the catalog.
 */
export function isLearnedByOldPrograms(facts: ModelFacts, index: CompiledIndex): boolean {
  return isMaintainedByData(indexManifest(index), fieldsBefore(facts), fieldsNow(facts));
}

/** The same for a new counter. Ranks are not maintained by programs that do not have them. */
export function isCounterLearned(
  facts: ModelFacts,
  { index: name, sum, ranked, unmarked }: Counter,
): boolean {
  if (ranked !== undefined) return false;
  const before = fieldsBefore(facts);
  const now = fieldsNow(facts);
  const fields = [sum?.field, unmarked].filter((field) => field !== undefined);
  if (!fields.every((field) => isSameField(field, before, now))) return false;
  const index = facts.model.indexes.find((one) => one.name === name);
  if (index === undefined) return true;
  const isKnown = Object.hasOwn(facts.entry.indexes, index.name);
  return isKnown || isLearnedByOldPrograms(facts, index);
}

type Fields = RowManifest["fields"];

function fieldsNow({ model }: ModelFacts): Fields {
  return rowManifest(model.schema, model.primaryKey).fields;
}

function fieldsBefore(facts: ModelFacts): Fields {
  return facts.storedRow?.fields ?? fieldsNow(facts);
}
