import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CompiledModel, type SchemaManifest, schemaManifest } from "@keywright/orm/codegen";
import { LockFileError, TypeInexpressibleError } from "../errors/codegen-errors.js";
import { endlessSchemaReason } from "../types/type-writer.js";
import type { OutputFile } from "./output-folder.js";

/** Contains the schema as data, next to the configuration, so that reviews show its changes. */
const lockFileName = "keywright.lock.json";

/**
 * Compares the lock file on disk with the current models.
 *
 * @throws {LockFileError} if the file is not a lock file of Keywright, or if a later version wrote
 * it.
 * @throws {TypeInexpressibleError} if a schema has no end.
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
  // A checkout or a formatter may have changed the whitespace.
  const isFresh = JSON.stringify(onDisk) === JSON.stringify(manifest);
  return { path, state: isFresh ? "fresh" : "stale", text };
}

function manifestOf(models: readonly CompiledModel[]): SchemaManifest {
  try {
    return schemaManifest(models);
  } catch (error) {
    // A schema that creates a new schema at each step overflows the stack.
    if (!(error instanceof RangeError)) throw error;
    const [first] = models;
    if (first === undefined) throw error;
    if (models.length === 1) {
      throw new TypeInexpressibleError(
        { model: first.name, path: "", reason: endlessSchemaReason },
        error,
      );
    }
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
    throw new LockFileError({ path, reason: "it cannot be read" }, error);
  }
  const manifest = parseManifest(text);
  const format: unknown = manifest?.format;
  if (format === 1) return manifest;
  const reason =
    typeof format === "number" && format > 1
      ? `it is of format ${format}, which a later version writes`
      : "it is no lock file of Keywright's";
  throw new LockFileError({ path, reason });
}

/** Parses a text as JSON, without checking the result. Returns undefined if it is not JSON. */
function parseManifest(text: string): SchemaManifest | undefined {
  try {
    return (JSON.parse(text) as SchemaManifest | null) ?? undefined;
  } catch {
    return undefined;
  }
}
