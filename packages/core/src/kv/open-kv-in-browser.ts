import { isOwnedFiles } from "../engine/files/owned-files.js";
import { BrowserUnsupportedError } from "../errors/browser-error.js";
import type { EmbeddedKv } from "./embedded-kv.js";
import { type KvPlace, type Opener, type OpenKvOptions, openHandle } from "./open/open-handle.js";
import { openGivenEngine, openMemoryEngine } from "./open/share-engine.js";
import { isEngine } from "./open/where.js";

const openMemory = "Use openKv() for a database in memory";

/** Opens a database in memory or on an engine, as `openKv` of Node.js does. */
export async function openKv(
  where: KvPlace = ":memory:",
  options: OpenKvOptions = {},
): Promise<EmbeddedKv> {
  return await openHandle(opener, "use", where, options);
}

const opener: Opener = {
  // No engine of a browser has this cache.
  defaultCacheBytes: () => 0,
  openEngine: async (where, options) => {
    if (where === ":memory:") return await openMemoryEngine(options);
    if (isEngine(where)) return await openGivenEngine(where, options);
    throw new BrowserUnsupportedError("openKv", `opens no ${kindOf(where)}`, openMemory);
  },
  denoRules: () => {
    const reason = 'has no compat: "deno", which needs the serializer of V8';
    throw new BrowserUnsupportedError("openKv", reason, "Leave the option out");
  },
};

function kindOf(where: KvPlace): string {
  if (isOwnedFiles(where)) return "files";
  return typeof where === "string" ? "folder and no server" : "abstract-level database";
}
