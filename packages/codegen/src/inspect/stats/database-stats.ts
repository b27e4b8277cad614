import type { KvLike } from "@keywright/core";
import { type MigrationStatus, migrationStatus } from "@keywright/orm";
import { modelManifest } from "@keywright/orm/codegen";
import { openModels, type Project } from "../../project/open-project.js";
import { type DatabaseSize, knownModels, measureDatabase } from "./database-size.js";
import type { KnownModel, ModelSize } from "./model-places.js";

export interface DatabaseStats extends Omit<DatabaseSize, "models"> {
  readonly models: readonly ModelStats[];
  /** Null if the project has a new model, because reading the status would register it. */
  readonly migration: MigrationStatus | null;
}

export interface ModelStats extends ModelSize {
  /** The hash of the row manifest in the project. Null if only the database has the model. */
  readonly projectSchema: string | null;
  /** The hash of the row manifest in the database. Null if no program has migrated the model. */
  readonly databaseSchema: string | null;
  /** The version of the catalog's format. Null if the database does not know the model. */
  readonly catalogFormat: number | null;
}

/** Reads all entries of a database and writes nothing. */
export async function databaseStats(
  project: Project,
  kv: KvLike,
  options: { readonly onProgress?: (keys: number) => void } = {},
): Promise<DatabaseStats> {
  const known = await knownModels(kv, project);
  const size = await measureDatabase(kv, known, options);
  const models = size.models.map((model, index) => ({ ...model, ...schemasOf(known[index]!) }));
  return { ...size, models, migration: await statusOf(project, kv, known) };
}

function schemasOf({ compiled, entry }: KnownModel): Omit<ModelStats, keyof ModelSize> {
  return {
    projectSchema: compiled === undefined ? null : modelManifest(compiled).row.hash,
    databaseSchema: entry?.schema?.hash ?? null,
    catalogFormat: entry?.format ?? null,
  };
}

async function statusOf(
  project: Project,
  kv: KvLike,
  known: readonly KnownModel[],
): Promise<MigrationStatus | null> {
  // Opening a model that the database does not know would add it to the catalog, which is a write.
  if (known.some(({ compiled, entry }) => compiled !== undefined && entry === undefined))
    return null;
  return await migrationStatus(await openModels(project, kv));
}
