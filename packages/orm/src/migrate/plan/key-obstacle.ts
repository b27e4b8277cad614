import { type CatalogEntry, catalogPrefix } from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import { parseRelationText } from "../../schema/model-manifest.js";

/**
 * Returns what prevents a change of the primary key and is not known from the catalog entry of the
 * model: `belongsTo` relations of any model that refer to it by the key, and rows whose expiry
 * times the database does not report. Undefined if nothing does.
 */
export async function readKeyObstacle({
  kv,
  model,
  catalog,
  tables,
}: TableContext): Promise<string | undefined> {
  if (catalog.snapshot.entry.expires && !catalog.returnsExpiry)
    return `Rows of ${model.name} expire, and the database does not report when. Move them to a new model, as the guide to migrations shows under "Moving rows to a new model".`;
  const referring = new Set<string>();
  const add = (name: string, relations: readonly string[] = []) => {
    if (relations.some((text) => parseRelationText(text)?.model === model.prefix)) {
      referring.add(name);
    }
  };
  for (const table of tables.values()) add(table.model.name, table.catalog.programRows.relations);
  for await (const { key, value } of kv.list<CatalogEntry>({ prefix: catalogPrefix })) {
    add(value.name ?? String(key.at(-1)), value.relations);
  }
  if (referring.size === 0) return undefined;
  const names = [...referring].join(", ");
  return `Rows of ${names} refer to ${model.name} by its primary key. Remove these belongsTo relations, and run migrate with the primary key ${JSON.stringify(catalog.snapshot.storedKey)} first. Add them again, by the new key, afterwards.`;
}
