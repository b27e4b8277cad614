import { openKv } from "@keywright/core";
import { mkdtemp, rm } from "node:fs/promises";
import { it } from "vitest";
import { createDatabase } from "../src/index.js";
import { User } from "./user-model.js";
const n = Number(process.env.ROWS ?? 20000);
const data = (prefix: string) => Array.from({ length: n }, (_, i) => ({ name: `Name ${i}`, email: `${prefix}${i}@example.com`, favoriteColor: ["red", "green", "blue"][i % 3]!, age: i % 90 }));
it("perf", async () => {
  for (const round of [1, 2]) {
    for (const mode of ["create64", "createMany", "atomic"]) {
      const dir = await mkdtemp("/tmp/kwperf-");
      const kv = await openKv(dir, { durability: "relaxed" });
      const db = await createDatabase({ kv, models: { users: User } });
      const rows = data(mode);
      const start = performance.now();
      if (mode === "create64") {
        let next = 0;
        await Promise.all(Array.from({ length: 64 }, async () => { while (next < n) await db.users.create({ data: rows[next++]! }); }));
      } else await db.users.createMany({ data: rows, atomic: mode === "atomic" });
      console.log(round, mode, Math.round(n / (performance.now() - start) * 1000), "rows/s");
      await kv.close();
      await rm(dir, { recursive: true });
    }
  }
}, 120000);
