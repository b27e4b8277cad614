import type { LevelDatabase } from "../engine/level/level-engine.js";
import { EmbeddedKv } from "./embedded-kv.js";
import { openDiskEngine, openLevelEngine, openMemoryEngine } from "./open-engine.js";

export interface OpenKvOptions {
  /**
   * What an acknowledged commit survives: with `"full"` (the default) a power cut, with `"relaxed"` a killed process.
   * It holds for the commits made through this handle.
   */
  durability?: "full" | "relaxed";
}

/**
 * Opens a database: in memory without a place or with `":memory:"`, in a folder on disk, which is made where it is
 * absent, or on an abstract-level database that the caller made (closing it is then part of `close()`). Opening the
 * same path again in one process shares the database; it is closed with its last handle.
 *
 * ```ts
 * const kv = await openKv("./data");
 * await kv.set(["users", "ada"], { name: "Ada" });
 * ```
 *
 * @throws {DatabasePathError} where the path is a file, or a folder of other things.
 * @throws {DatabaseLockedError} where another process has the database open.
 * @throws {DatabaseFormatError} where the data there is not Keywright's, or of a later format.
 * @throws {CorruptionError} where the database is damaged.
 */
export async function openKv(
  where: string | LevelDatabase = ":memory:",
  options: OpenKvOptions = {},
): Promise<EmbeddedKv> {
  const shared = await openEngine(where);
  return new EmbeddedKv(shared, options.durability !== "relaxed");
}

function openEngine(where: string | LevelDatabase) {
  if (typeof where !== "string") return openLevelEngine(where);
  return where === ":memory:" ? openMemoryEngine() : openDiskEngine(where);
}
