import type { KvLike } from "@keywright/core";
import { type MigrationStatus, migrationStatus, modelManifest } from "@keywright/orm";
import { openModels, type Project } from "../../project/open-project.js";
import { type DatabaseSize, knownModels, measureDatabase } from "./database-size.js";
import type { KnownModel, ModelSize } from "./model-places.js";

/** What a database holds, and where its models' migrations stand. */
export interface DatabaseStats extends Omit<DatabaseSize, "models"> {
  readonly models: readonly ModelStats[];
  /** Null where the database does not know all models of the project yet: finding out would enter them. */
  readonly migration: MigrationStatus | null;
}

export interface ModelStats extends ModelSize {
  /** The hash of its rows' manifest in the project; null for a model of the database alone. */
  readonly projectSchema: string | null;
  /** The hash of its rows' manifest in the database; null where no program has migrated it. */
  readonly databaseSchema: string | null;
  /** The version of the catalog's format; null where the database does not know the model. */
  readonly catalogFormat: number | null;
}

/** Looks at the whole of a database and writes nothing. */
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
  // A database that is opened with a model that it does not know enters it in its catalog.
  if (known.some(({ compiled, entry }) => compiled !== undefined && entry === undefined))
    return null;
  return await migrationStatus(await openModels(project, kv));
}
