import type { Engine } from "@keywright/core";
import { lmdbEngine } from "../src/index.js";
import type { LmdbOptions } from "../src/open/lmdb-options.js";

/** Opens the engine on a file that no other test opens, without the lock that `openKv` takes. */
export async function openEngine(path: string, options?: Partial<LmdbOptions>): Promise<Engine> {
  return await (await lmdbEngine({ path, ...options })).openFile(path);
}
