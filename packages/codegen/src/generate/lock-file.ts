import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CompiledModel, type SchemaManifest, schemaManifest } from "@keywright/orm";
import { LockFileError, TypeInexpressibleError } from "../errors/codegen-errors.js";
import { withoutEnd } from "../types/type-writer.js";
import type { OutputFile } from "./output-folder.js";

/** The schema as data, beside the configuration: for reviews, in which it shows what has changed. */
const lockFileName = "keywright.lock.json";

/**
 * The lock file as it should be, against the one on disk.
 *
 * @throws {LockFileError} for one that is not Keywright's, or of a later version.
 * @throws {TypeInexpressibleError} for a schema without an end.
 */
export async function compareLockFile(
  configPath: string,
  models: readonly CompiledModel[],
): Promise<OutputFile> {
  const path = join(dirname(configPath), lockFileName);
  const manifest = manifestOf(models);
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const onDisk = await readLockFile(path);
  if (onDisk === undefined) return { path, state: "missing", text };
  // A checkout or a formatter may have changed the space in it.
  const isFresh = JSON.stringify(onDisk) === JSON.stringify(manifest);
  return { path, state: isFresh ? "fresh" : "stale", text };
}

function manifestOf(models: readonly CompiledModel[]): SchemaManifest {
  try {
    return schemaManifest(models);
  } catch (error) {
    // The stack is too small for a schema that is made anew at each step.
    if (!(error instanceof RangeError)) throw error;
    const [first] = models;
    if (first === undefined) throw error;
    if (models.length === 1) throw new TypeInexpressibleError(first.name, "", withoutEnd, error);
    for (const model of models) manifestOf([model]);
    throw error;
  }
}

async function readLockFile(path: string): Promise<SchemaManifest | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new LockFileError(path, "it cannot be read", error);
  }
  const manifest = parsed(text);
  const format: unknown = manifest?.format;
  if (format === 1) return manifest;
  const reason =
    typeof format === "number" && format > 1
      ? `it is of format ${format}, which a later version writes`
      : "it is no lock file of Keywright's";
  throw new LockFileError(path, reason);
}

/** What a text holds, whatever that is; undefined where it is no JSON. */
function parsed(text: string): SchemaManifest | undefined {
  try {
    return (JSON.parse(text) as SchemaManifest | null) ?? undefined;
  } catch {
    return undefined;
  }
}
