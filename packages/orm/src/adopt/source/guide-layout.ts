import { primaryKeyOfEntry } from "../../indexes/entry-value.js";
import { indexEntries } from "../../indexes/index-entries.js";
import { compileModel } from "../../model/compile-model.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { Model } from "../../model/model.js";
import { idOfParts, partsOf, type SourceLayout } from "./source-layout.js";

/**
 * The layout of data written by hand as Deno KV's guide to secondary indexes shows: rows under `["users", id]`, unique
 * index entries under `["users_by_email", email]`, others under `["users_by_favorite_color", color, id]`, each with the
 * id as its value, or with a copy of the row.
 *
 * @param model describes the data as it is in the source: the beginnings of its keys, its primary key and its indexes, with
 * `store: "copy"` for those that hold copies. It is the model that the rows become where nothing else changes.
 * @throws {ModelDefinitionError} for a definition that contradicts itself.
 */
export function guideLayout(model: Model): SourceLayout {
  const compiled = compileModel(model);
  const { prefix, primaryKey, indexes } = compiled;
  return {
    rows: [prefix],
    indexes: indexes.map((index) => [index.prefix]),
    idOf: (key) => (key.length === 1 + primaryKey.length ? idOfParts(key.slice(1)) : undefined),
    entriesOf: ({ id, value }) => indexEntries(compiled, indexes, value as AnyRow, partsOf(id)),
    ownerOf: ({ key, value }) => {
      const index = indexes.find((candidate) => candidate.prefix === key[0]);
      const owner = index && primaryKeyOfEntry(compiled, index, value);
      return owner && idOfParts(owner);
    },
  };
}
