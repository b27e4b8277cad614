import type { ModelInfo, RelationInfo } from "../../src/protocol/studio-info.js";

/**
 * Returns the relation that each field of a model stands for. A reference with several fields, such
 * as a tenant and an id, belongs to its last field: the others are shared with other references.
 */
export function referencesOf(model: ModelInfo): ReadonlyMap<string, RelationInfo> {
  const references = new Map<string, RelationInfo>();
  for (const relation of model.relations) {
    const field = relation.fields.at(-1);
    if (relation.kind !== "belongsTo" || field === undefined) continue;
    const known = references.get(field);
    if (known === undefined || relation.fields.length < known.fields.length)
      references.set(field, relation);
  }
  return references;
}
