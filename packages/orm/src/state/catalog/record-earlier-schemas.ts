import type { Kv } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import { findUpgrade } from "../schema/upgrade/row-upgrade.js";
import { rowManifestKey } from "./catalog-entry.js";
import type { ProgramRows } from "./row-schemas.js";

/**
 * Stores the manifests of the schemas that lead to a program's by its migrations. A program with
 * one of them is then known to be older than the database, although the database never had that
 * schema itself.
 */
export async function recordEarlierSchemas(
  kv: Kv,
  model: CompiledModel,
  { manifest, migrations }: ProgramRows,
): Promise<void> {
  const own = migrations.filter((migration) => migration.model === model.name);
  const manifests = new Map(
    own.flatMap(({ from, to }) => [from, to]).map((one) => [one.hash, one]),
  );
  manifests.delete(manifest.hash);
  for (const [hash, earlier] of manifests) {
    const upgrade = findUpgrade(earlier, model, manifest, own);
    const isEarlier =
      upgrade !== undefined &&
      !upgrade.goesBack &&
      upgrade.changes.every((change) => change.class !== "breaking");
    if (!isEarlier) continue;
    const key = rowManifestKey(model, hash);
    await kv.atomic().check({ key, versionstamp: null }).set(key, earlier).commit();
  }
}
