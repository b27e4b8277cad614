import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { expect, it } from "vitest";
import * as z from "zod";
import { sqliteEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

it("createMany makes one operation of 100 rows, although other processes may have the file", async () => {
  const { path, remove } = await temporaryFile();
  const kv = await openKv(await sqliteEngine({ path }));
  try {
    const schema = z.object({ id: z.int(), email: z.string() });
    const members = defineModel({ name: "members", schema, primaryKey: "id" });
    const db = await createDatabase({ kv, models: { members } });
    const data = Array.from({ length: 250 }, (_, id) => ({ id, email: `${id}@example.com` }));
    await db.members.createMany({ data });
    const versionstamps = new Set<string>();
    for await (const { versionstamp } of kv.list({ prefix: ["members"] }))
      versionstamps.add(versionstamp);
    expect(versionstamps.size).toBe(3);
  } finally {
    await kv.close();
    await remove();
  }
});
