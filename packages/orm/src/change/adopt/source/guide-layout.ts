import { compileModel } from "../../../model/compile-model.js";
import type { AnyRow } from "../../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../../model/keys/entry-value.js";
import { indexEntries } from "../../../model/keys/index-entries.js";
import { partsOfId } from "../../../model/keys/primary-key.js";
import type { Model } from "../../../model/model.js";
import { idOfParts, type SourceLayout } from "./source-layout.js";

/**
 * Returns the layout of data written by hand, as Deno KV's guide to secondary indexes shows. Rows
 * are under `["users", id]`, entries of unique indexes under `["users_by_email", email]`, and other
 * entries under `["users_by_favorite_color", color, id]`. The value of an entry is the id or a copy
 * of the row.
 *
 * @param model describes the data in the source: the prefixes of its keys, its primary key and its
 * indexes, with `store: "copy"` for indexes that hold copies. If nothing else changes, it is also
 * the model that the rows are adopted into.
 * @throws {ModelDefinitionError} if the definition contradicts itself.
 */
export function guideLayout(model: Model): SourceLayout {
  const compiled = compileModel(model);
  const { prefix, primaryKey, indexes } = compiled;
  return {
    rows: [prefix],
    indexes: indexes.map((index) => [index.prefix]),
    idOf: (key) => (key.length === 1 + primaryKey.length ? idOfParts(key.slice(1)) : undefined),
    entriesOf: ({ id, value }) => indexEntries(compiled, indexes, value as AnyRow, partsOfId(id)),
    ownerOf: ({ key, value }) => {
      const index = indexes.find((candidate) => candidate.prefix === key[0]);
      const owner = index && primaryKeyOfEntry(compiled, index, value);
      return owner && idOfParts(owner);
    },
  };
}
