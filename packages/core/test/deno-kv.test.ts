import { join } from "node:path";
import { KvU64, openKv } from "@deno/kv";
import { describe, it } from "vitest";
import type { Kv } from "../src/kv/kv.js";
import { type KvStore, kvContract } from "../src/testing/index.js";
import { denoDifferences, denoKvDifferences } from "./deno-kv-differences.js";
import { hasFormatOfV8 } from "./javascript-engine.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

// Deno KV itself. It must pass the contract, except for the listed differences.

const { Deno } = globalThis as {
  Deno?: { openKv(path: string): Promise<Kv>; readonly KvU64: typeof KvU64 };
};

describe.skipIf(!hasFormatOfV8)("Deno KV on Node.js, which needs V8's format of values", () => {
  kvContract(
    // Several at a time: it takes long.
    { describe: describe.concurrent, it },
    {
      name: "@deno/kv",
      KvU64,
      differences: denoKvDifferences,
      create: async () => {
        // Not without a path: that is another implementation, which is not SQLite.
        const kv = (await openKv(":memory:", { implementation: "sqlite" })) as unknown as Kv;
        return { kv, dispose: async () => close(kv) };
      },
    },
  );
});

if (Deno !== undefined) {
  kvContract(
    { describe: describe.concurrent, it },
    {
      name: "Deno.openKv()",
      KvU64: Deno.KvU64,
      capabilities: ["reopen"],
      differences: denoDifferences,
      create: () => storeOf(Deno),
    },
  );
}

async function storeOf(deno: { openKv(path: string): Promise<Kv> }): Promise<KvStore> {
  const folder = await makeFolder();
  const open = () => deno.openKv(join(folder, "kv.sqlite"));
  let kv = await open();
  return {
    kv,
    reopen: async () => {
      close(kv);
      kv = await open();
      return kv;
    },
    dispose: async () => {
      close(kv);
      await removeFolder(folder);
    },
  };
}

/** A second `close()` is an error there, and a test may have closed the database. */
function close(kv: Kv): void {
  try {
    void kv.close();
  } catch {
    // It is closed.
  }
}
