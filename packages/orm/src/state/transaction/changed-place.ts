import type { KvKey, KvKeyPart } from "@keywright/core";
import type { ChangedPlace } from "../../errors/transaction-errors.js";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";

/** @param key a key, or the first parts of the keys of a range. */
export function placeOfKey(models: Iterable<CompiledModel>, key: KvKey): ChangedPlace | undefined {
  // Records of a place have its name after the kind of the record.
  const isRecord = key[0] === systemPrefix;
  const place: KvKeyPart | undefined = isRecord ? key[2] : key[0];
  for (const { name, place: rows, prefix, indexes } of models) {
    if (place === rows || place === prefix)
      return { model: name, index: isRecord ? undefined : "primaryKey" };
    const index = indexes.find((each) => place === each.place || place === each.prefix);
    if (index !== undefined) return { model: name, index: index.name };
  }
  return undefined;
}
