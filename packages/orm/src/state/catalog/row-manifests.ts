import type { Kv, KvKey } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { flag, listOf, object, optional, plainObject, recordOf, text } from "../../model/shape.js";
import type { RowMigration } from "../schema/define-migration.js";
import type { RowManifest } from "../schema/manifests/manifest.js";
import { findUpgrade } from "../schema/upgrade/row-upgrade.js";
import { readSystemValue, type SystemShape } from "./system-value.js";

/** What a program knows of the rows of a model. */
export interface ProgramRows {
  readonly manifest: RowManifest;
  readonly migrations: readonly RowMigration[];
  /** The program's `belongsTo` relations, as `relationTexts` returns them. */
  readonly relations: readonly string[];
}

export function rowManifestKey(model: Pick<CompiledModel, "prefix">, hash: string): KvKey {
  return [systemPrefix, "schema", model.prefix, hash];
}

const fields = recordOf(object({ schema: plainObject, optional: flag, defaulted: flag }));

const rowManifestShape: SystemShape<RowManifest> = {
  problemOf: object({
    hash: text,
    primaryKey: listOf(text),
    fields,
    left: optional(fields),
    functions: optional(recordOf(text)),
  }),
  remedy: "restore it from a backup",
};

/** Returns the manifest with a hash, or undefined if the database has none. */
export async function readRowManifest(
  kv: Kv,
  model: Pick<CompiledModel, "prefix" | "name">,
  hash: string | undefined,
): Promise<RowManifest | undefined> {
  if (hash === undefined) return undefined;
  const key = rowManifestKey(model, hash);
  return (await readSystemValue(kv, key, rowManifestShape, model.name)) ?? undefined;
}

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
