import { hasEntries } from "../../state/catalog/has-entries.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { compareRows } from "../../state/schema/upgrade/compare-rows.js";

/**
 * Finds the model of a program that a stored model may have been renamed to. It has no rows, could
 * have those of the stored model as they are, and is newer than they are. A model with the same
 * schema comes first.
 *
 * @param stored the schema of the stored rows; undefined if it is not known.
 * @param writtenAt the versionstamp of a stored row.
 * @returns undefined if there is none, or more than one, because nothing tells which it is.
 */
export async function likelyNewName(
  stored: RowManifest | undefined,
  writtenAt: string,
  contexts: readonly TableContext[],
): Promise<string | undefined> {
  if (stored === undefined) return undefined;
  const same: string[] = [];
  const compatible: string[] = [];
  for (const { kv, model, catalog } of contexts) {
    const { manifest } = catalog.programRows;
    if ((catalog.snapshot.check.versionstamp ?? "") < writtenAt) continue;
    const isCompatible = compareRows(stored, manifest).every((change) => {
      return change.class === "safe" || change.class === "backfill";
    });
    if (!isCompatible || (await hasEntries(kv, model.place))) continue;
    (stored.hash === manifest.hash ? same : compatible).push(model.name);
  }
  const [name, ...others] = same.length > 0 ? same : compatible;
  return others.length === 0 ? name : undefined;
}
