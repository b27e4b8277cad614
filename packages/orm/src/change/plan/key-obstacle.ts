import { type CatalogEntry, catalogPrefix } from "../../state/catalog/catalog-entry.js";
import { countersIn } from "../../state/catalog/stored-counters.js";
import { catalogShape } from "../../state/catalog/system-shapes.js";
import { systemValue } from "../../state/catalog/system-value.js";
import type { TableContext } from "../../state/context/table-context.js";
import { deleteJobsPrefix } from "../../state/references/guard-keys.js";
import { parseRelationText } from "../../state/schema/manifests/model-manifest.js";

/**
 * Returns what prevents a change of the primary key and is not known from the catalog entry of the
 * model: rows whose expiry times the database does not report, a delete that is not complete, and
 * references that the program cannot check. Undefined if nothing does.
 */
export async function readKeyObstacle(context: TableContext): Promise<string | undefined> {
  const { kv, model, catalog, tables } = context;
  const { entry, storedKey } = catalog.snapshot;
  const key = JSON.stringify(storedKey);
  if (entry.expires && !catalog.capabilities.returnsExpiry)
    return `Rows of ${model.name} expire, and the database does not report when. Move them to a new model, as the guide to migrations shows under "Moving rows to a new model".`;
  const ranked =
    model.indexes.find((index) => index.ranked)?.name ??
    countersIn(entry).find(({ isRanked }) => isRanked)?.index;
  if (ranked !== undefined)
    return `The index ${ranked} is ranked, and its intervals begin at keys with the primary key. Remove ranked from the index, run migrate with the primary key ${key}, change the primary key, and declare ranked again.`;
  const jobs = kv.list({ prefix: [...deleteJobsPrefix, model.place] }, { limit: 1 });
  if ((await jobs.next()).done !== true)
    return `A delete of a row of ${model.name} is not complete. Complete it with resumeDeletes, by a program with the primary key ${key}.`;
  const refers = (relations: readonly string[] = []) =>
    relations.some((text) => parseRelationText(text)?.model === model.prefix);
  if (refers(entry.relations) || refers(catalog.programRows.relations))
    return `Rows of ${model.name} refer to each other by their primary key. Remove this belongsTo relation, and run migrate with the primary key ${key} first. Add it again, by the new key, afterwards.`;
  const known = new Set<unknown>();
  for (const table of tables.values()) {
    known.add(table.model.prefix);
    const refersToKey = refers(table.catalog.programRows.relations);
    if (table !== context && refersToKey && !table.catalog.snapshot.hasSameKey)
      return `The primary key of ${table.model.name}, whose rows refer to ${model.name}, changes too. Change one of them after the other.`;
  }
  for await (const entryOfModel of kv.list({ prefix: catalogPrefix })) {
    const prefix = entryOfModel.key.at(-1);
    if (known.has(prefix)) continue;
    const value = systemValue<CatalogEntry>(entryOfModel, catalogShape, String(prefix));
    if (value === null || !refers(value.relations)) continue;
    return `Rows of ${value.name ?? String(prefix)} refer to ${model.name}. Open the database with this model too, so that the references can be checked.`;
  }
  return undefined;
}
