import type { CatalogEntry } from "@keywright/orm";
import { type CompiledModel, modelManifest } from "@keywright/orm/codegen";
import type { Source } from "./source.js";

const systemPrefix = "__keywright";

/** Returns what the database knows about a model, or null if it does not have it. */
export async function catalogOf(
  { kv }: Source,
  model: CompiledModel,
): Promise<CatalogEntry | null> {
  return (await kv.get<CatalogEntry>([systemPrefix, "catalog", model.prefix])).value;
}

/** True if the rows of the model had the schema of the program before they got another. */
export async function hadSchema(source: Source, model: CompiledModel): Promise<boolean> {
  const { hash } = modelManifest(model).row;
  const { schema } = (await catalogOf(source, model)) ?? {};
  if (schema === undefined || schema.hash === hash) return false;
  const stored = await source.kv.get([systemPrefix, "schema", model.prefix, hash]);
  return stored.versionstamp !== null;
}
