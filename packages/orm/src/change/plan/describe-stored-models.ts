import type { Kv } from "@keywright/core";
import { countedRows } from "../../derived/counters/count-stored-rows.js";
import {
  type CatalogEntry,
  isBeingDropped,
  rowManifestKey,
} from "../../state/catalog/catalog-entry.js";
import type { StoredModel } from "../../state/catalog/stored-models.js";
import { rowManifestShape } from "../../state/catalog/system-shapes.js";
import { systemValue } from "../../state/catalog/system-value.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { likelyNewName } from "./likely-new-name.js";
import type { DatabaseModel } from "./migration-plan.js";

/** Describes the stored models that have rows and are not being dropped. */
export async function describeStoredModels(
  kv: Kv,
  contexts: readonly TableContext[],
  models: readonly StoredModel[],
): Promise<DatabaseModel[]> {
  const described: DatabaseModel[] = [];
  for (const { name, prefix, entry } of models) {
    if (isBeingDropped(entry)) continue;
    const list = kv.list({ prefix: [entry.place ?? prefix] }, { limit: 1 });
    const { value: firstRow } = await list.next();
    if (firstRow === undefined) continue;
    const rows = await countedRows(kv, prefix, entry);
    const manifest = await readRowManifest(kv, prefix, entry);
    const renamedTo = await likelyNewName(manifest, firstRow.versionstamp, contexts);
    described.push({
      model: name,
      prefix,
      ...(rows !== undefined && { rows }),
      ...(renamedTo !== undefined && { renamedTo }),
    });
  }
  // Two models cannot have got the same name.
  return described.map((one) => {
    const { renamedTo, ...rest } = one;
    const isShared = described.some((other) => other !== one && other.renamedTo === renamedTo);
    return isShared ? rest : one;
  });
}

/** Returns the schema of a model's rows, or undefined if the database has no record of it. */
export async function readRowManifest(
  kv: Kv,
  prefix: string,
  { schema }: CatalogEntry,
): Promise<RowManifest | undefined> {
  if (schema === undefined) return undefined;
  const stored = await kv.get(rowManifestKey({ prefix }, schema.hash));
  return systemValue<RowManifest>(stored, rowManifestShape, prefix) ?? undefined;
}
