import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { postgresEngine } from "../src/index.js";
import { describeOnServer, newTable, query } from "./server/shared-server.js";

describeOnServer("the plans of an engine", () => {
  it("use the index, although the table was small when they were made", async () => {
    const table = newTable();
    await using kv = await openKv(await postgresEngine({ ...table, maxConnections: 1 }));
    const useAll = async (name: string) => {
      const entry = await kv.get([name, "a"]);
      await kv
        .atomic()
        .check(entry)
        .set([name, "a"], 1)
        .set([name, kv.commitVersionstamp()], 1)
        .delete([name, "b"])
        .sum([name, "n"], 1n)
        .commit();
      await kv.getMany([
        [name, "a"],
        [name, "b"],
      ]);
      for await (const _ of kv.list({ prefix: [name] }));
    };
    await useAll("first");
    await query(`ANALYZE ${table.prefix}`);
    const counts = async () => {
      const id = `'${table.prefix}'::regclass`;
      const [row] = await query(
        `SELECT pg_stat_get_numscans(${id}) AS scans, pg_stat_get_tuples_inserted(${id})::int AS inserted`,
      );
      return row as { scans: string; inserted: number };
    };
    const before = await counts();
    // After some executions, the plans no longer depend on the parameters.
    for (let i = 0; i < 20; i++) await useAll(`${i}`);
    // A session reports its counts when it ends.
    await kv.close();
    while ((await counts()).inserted < before.inserted + 60);
    expect((await counts()).scans).toBe(before.scans);
  });
});
