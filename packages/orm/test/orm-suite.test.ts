import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kv, type KvLike, openKv } from "@keywright/core";
import { describe, it } from "vitest";
import { ormSuite } from "../src/testing.js";
import { denoKv } from "./faulty-kv.js";
import { openDenoKv } from "./open-deno-kv.js";

const databases: Record<string, () => Promise<KvLike & { close(): unknown }>> = {
  "an embedded database in memory": () => openKv(),
  "a database in Deno's mode": () => openKv(":memory:", { compat: "deno" }),
  "a database with Deno's interface and no more": async () => denoKv(await openKv()),
  "@deno/kv": openDenoKv,
};

const { Deno } = globalThis as { Deno?: { openKv(path: string): Promise<Kv> } };
if (Deno !== undefined) databases["Deno.openKv()"] = () => Deno.openKv(":memory:");

for (const [name, openOne] of Object.entries(databases)) {
  const open = async () => {
    const kv = await openOne();
    return { kv, dispose: async () => void (await kv.close()) };
  };
  ormSuite({ describe, it }, { name, open });
}

ormSuite(
  { describe, it },
  {
    name: "an embedded database on disk",
    open: async () => {
      const folder = await mkdtemp(join(tmpdir(), "keywright-"));
      const kv = await openKv(join(folder, "kv"), { durability: "relaxed" });
      const dispose = async () => {
        await kv.close();
        await rm(folder, { recursive: true });
      };
      return { kv, dispose };
    },
  },
);
