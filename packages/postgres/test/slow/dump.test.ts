import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { postgresEngine } from "../../src/index.js";
import { PostgresServer } from "../server/postgres-server.js";
import { describeOnServer } from "../server/shared-server.js";

const Row = defineModel({
  name: "rows",
  schema: z.object({ id: z.int(), color: z.string() }),
  primaryKey: "id",
  indexes: { byColor: { key: "color" } },
});

describeOnServer("a table that pg_dump has written", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  it("is the database of its time after a restore, and its versionstamps continue", async () => {
    const open = async () => await openKv(await postgresEngine({ connectionString: server.url }));
    const rowsOf = async (kv: Awaited<ReturnType<typeof open>>) =>
      (await createDatabase({ kv, models: { rows: Row } })).rows;
    const entriesOf = async (kv: Awaited<ReturnType<typeof open>>) => {
      const entries: unknown[] = [];
      for await (const entry of kv.list({ prefix: [] })) entries.push(entry);
      return entries;
    };
    let kv = await open();
    let dump: string;
    let expected: unknown[];
    let last: string;
    try {
      const rows = await rowsOf(kv);
      const data = Array.from({ length: 300 }, (_, id) => ({ id, color: id % 2 ? "red" : "blue" }));
      await rows.createMany({ data });
      ({ versionstamp: last } = await kv.set(["last"], 1));
      expected = await entriesOf(kv);
      // Programs write during the dump.
      let isRunning = true;
      const writing = (async () => {
        for (let n = 0; isRunning; n++) await kv.set(["later", n], n);
      })();
      dump = await server.runTool("pg_dump", ["-t", "keywright"]);
      isRunning = false;
      await writing;
    } finally {
      await kv.close();
    }
    await server.query("DROP TABLE keywright");
    await server.query("DROP FUNCTION keywright_commit_2");
    const file = join(server.folder, "dump.sql");
    await writeFile(file, dump, { mode: 0o644 });
    await server.runTool("psql", ["-v", "ON_ERROR_STOP=1", "-q", "-f", file]);
    kv = await open();
    try {
      expect(await entriesOf(kv)).toEqual(expect.arrayContaining(expected));
      const rows = await rowsOf(kv);
      const { items } = await rows.findMany({ where: { color: "red" } });
      expect(items).toHaveLength(150);
      // What was written during the dump is a prefix of the commits.
      const later: unknown[] = [];
      for await (const { value } of kv.list({ prefix: ["later"] })) later.push(value);
      expect(later).toEqual(later.map((_, n) => n));
      expect((await kv.set(["next"], 1)).versionstamp > last).toBe(true);
    } finally {
      await kv.close();
    }
  });
});
