import { describe, expect, it } from "vitest";
import { backup, restore, verifyBackup } from "../src/backup.js";
import { type EmbeddedKv, openKv } from "../src/index.js";
import { readCatalog, readManifest } from "../src/kv/backup/format/backup-catalog.js";
import { SmallObjects } from "../src/kv/backup/write/small-objects.js";
import { addCommits } from "../src/kv/backup/write/write-log.js";
import { EmbeddedKv as EmbeddedKvClass } from "../src/kv/embedded-kv.js";
import { MemorySink } from "./backup-sink.js";

async function valuesIn(kv: Pick<EmbeddedKv, "list">): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const { value } of kv.list({ prefix: ["a"] })) values.push(value);
  return values;
}

async function restoredValues(
  sink: MemorySink,
  options: Parameters<typeof restore>[2] = {},
): Promise<unknown[]> {
  await using kv = await openKv();
  await restore(sink, kv, options);
  return await valuesIn(kv);
}

/** Adds one object for each of some commits, as a backup does that follows the database. */
async function follow(kv: EmbeddedKv, sink: MemorySink, commits: number): Promise<void> {
  const { name } = (await readCatalog(sink)).generations.at(-1)!;
  const { log, position } = await readManifest(sink, name, undefined);
  const { engine } = EmbeddedKvClass.sharedOf(kv, "test");
  const small = new SmallObjects(sink, undefined);
  let at = { generation: name, log: log!, position: position! };
  for (let n = 0; n < commits; n++) {
    await kv.set(["a", n], n);
    const options = { key: undefined, isCovering: false };
    const added = await addCommits(engine, sink, at, options);
    at = { ...at, position: added.position };
    await small.add(name, added.objects);
  }
}

describe("a backup that follows a database", () => {
  it("merges its small objects, and every moment can still be restored", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    await follow(kv, sink, 600);
    // 2 × 256 + 5 × 16 + 8 × 1 commits.
    expect(sink.named("/log-")).toHaveLength(2 + 5 + 8);
    expect(await restoredValues(sink)).toHaveLength(600);
    const { versionstamp } = await kv.get(["a", 299]);
    expect(await restoredValues(sink, { at: versionstamp! })).toHaveLength(300);
    expect((await verifyBackup(sink)).entries).toBe(600);
  });

  it("can be restored while it merges", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    await follow(kv, sink, 15);
    const { name } = (await readCatalog(sink)).generations.at(-1)!;
    const get = sink.get.bind(sink);
    let reads = 0;
    sink.get = async (each) => {
      // After the third object of commits was read, all are merged.
      if (each.includes("/log-") && ++reads === 4) {
        const merging = new MemorySink();
        for (const [key, bytes] of sink.objects) merging.objects.set(key, bytes);
        for (const log of sink.named("/log-")) sink.objects.delete(log);
        sink.get = get;
        const from = { ...(await readManifest(sink, name, undefined)) };
        const at = { generation: name, log: from.log!, position: from.position! };
        const { engine } = EmbeddedKvClass.sharedOf(kv, "test");
        await addCommits(engine, sink, at, { key: undefined, isCovering: false });
      }
      return await get(each);
    };
    expect(await restoredValues(sink)).toHaveLength(15);
    expect(sink.named("/log-")).toHaveLength(1);
  });

  it("leaves objects as they are if one of them is damaged", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    await follow(kv, sink, 10);
    const damaged = sink.named("/log-")[4]!;
    sink.objects.get(damaged)![100]! ^= 1;
    await expect(restoredValues(sink)).rejects.toMatchObject({ code: "KW_BACKUP_DAMAGED" });
    expect(await restoredValues(sink, { partial: true })).toHaveLength(4);
  });
});

describe("the last object of commits", () => {
  it("is missed if it is lost", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    for (const n of [0, 1]) {
      await kv.set(["a", n], n);
      await backup(kv, sink, { incremental: true });
    }
    const [first, last] = sink.named("/log-");
    const { versionstamp } = await kv.get(["a", 0]);
    sink.objects.delete(last!);
    await expect(restoredValues(sink)).rejects.toMatchObject({
      code: "KW_BACKUP_DAMAGED",
      message: expect.stringContaining("are missing") as string,
    });
    expect(await restoredValues(sink, { at: versionstamp! })).toEqual([0]);
    expect(await restoredValues(sink, { partial: true })).toEqual([0]);
    // The next backup adds the commits again, which the log still has.
    await backup(kv, sink, { incremental: true });
    expect(await restoredValues(sink)).toEqual([0, 1]);
    sink.objects.delete(first!);
    await expect(restoredValues(sink)).rejects.toMatchObject({ code: "KW_BACKUP_DAMAGED" });
  });
});

describe("restore", () => {
  it("keeps a log from its end on, and takes the durability", async () => {
    await using kv = await openKv();
    await kv.set(["a", 1], 1);
    const sink = new MemorySink();
    await backup(kv, sink);
    await using restored = await openKv();
    await restore(sink, restored, { log: { keep: "2 days" }, durability: "relaxed" });
    await restored.set(["a", 2], 2);
    const keys: unknown[] = [];
    for await (const { changes } of restored.changes({ prefix: ["a"], live: false }))
      for (const { key } of changes) keys.push(key);
    expect(keys).toEqual([["a", 2]]);
    const wrong = { durability: "none" } as unknown as Parameters<typeof restore>[2];
    await expect(restore(sink, restored, wrong)).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option: "durability",
    });
  });
});
