import { type EmbeddedKv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer, newTable, query } from "../server/shared-server.js";

describeOnServer("the plans of an engine", () => {
  it("use the index, although the table was small when they were made", async () => {
    const table = newTable();
    const open = async () => openKv(await postgresEngine({ ...table, maxConnections: 1 }));
    const useAll = async (kv: EmbeddedKv, name: string) => {
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
      const view = await kv.openView();
      await kv.set(["other", name], 1);
      const { versionstamp } = view!;
      view!.close();
      const range = { prefix: [name] };
      await kv.atomic().checkRange!(range, versionstamp!).set([name, "a"], 2).commit();
    };
    const counts = async () => {
      const id = `'${table.prefix}'::regclass`;
      const [row] = await query(
        `SELECT pg_stat_get_numscans(${id}) AS scans, pg_stat_get_tuples_inserted(${id})::int AS inserted`,
      );
      return row as { scans: string; inserted: number };
    };
    // A session reports its counts when it ends.
    const closed = async (kv: EmbeddedKv, inserted: number) => {
      await kv.close();
      while ((await counts()).inserted < inserted);
      return await counts();
    };
    const first = await open();
    await useAll(first, "first");
    const before = await closed(first, 4);
    await query(`ANALYZE ${table.prefix}`);
    const second = await open();
    // After some executions, the plans no longer depend on the parameters.
    for (let i = 0; i < 20; i++) await useAll(second, `${i}`);
    const after = await closed(second, before.inserted + 60);
    expect(after.scans).toBe(before.scans);
  });
});
