import { KvU64, openKv } from "@deno/kv";
import { describe, it } from "vitest";
import type { Kv } from "../src/kv/kv.js";
import { kvContract } from "../src/testing/index.js";
import { denoKvDifferences } from "./deno-kv-differences.js";

// Deno KV itself, by its own client for Node: the contract asks of a database what Deno KV does, but for what is listed.
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

/** A second `close()` is an error there, and a test may have closed the database. */
function close(kv: Kv): void {
  try {
    void kv.close();
  } catch {
    // It is closed.
  }
}
