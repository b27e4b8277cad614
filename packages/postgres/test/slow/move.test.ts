import { type EmbeddedKv, type KvPlace, KvU64, moveKv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer, newTable } from "../server/shared-server.js";

/** Counts commits until the database was moved, and returns their number. */
async function countUntilMoved(kv: EmbeddedKv, key: string): Promise<number> {
  for (let n = 0; ; ) {
    try {
      await kv.atomic().sum(["count"], 1n).set(["last", key], n).commit();
      n++;
    } catch (error) {
      const { code } = error as { code: string };
      if (code === "KW_DATABASE_MOVED") return n;
      if (code !== "KW_DATABASE_MOVING") throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function move(handles: EmbeddedKv[], target: KvPlace): Promise<number> {
  const counting = Array.from({ length: 16 }, (_, n) =>
    countUntilMoved(handles[n % handles.length]!, `${n}`),
  );
  await moveKv(handles[0]!, target);
  const counts = await Promise.all(counting);
  await Promise.all(handles.map((kv) => kv.close()));
  return counts.reduce((sum, n) => sum + n, 0);
}

describeOnServer("moveKv while 16 programs write", () => {
  it("moves to PostgreSQL, and from several of its connections to another table", async () => {
    const memory = await openKv(":memory:", { log: {} });
    for (let n = 0; n < 300; n++) void memory.set(["row", n], n);
    const [first, second] = [newTable(), newTable()];
    let sum = await move([memory], await postgresEngine(first));
    const handles = [];
    for (let n = 0; n < 3; n++)
      handles.push(await openKv(await postgresEngine(first), { log: {}, durability: "relaxed" }));
    expect((await handles[0]!.get(["count"])).value).toEqual(new KvU64(BigInt(sum)));
    sum += await move(handles, await postgresEngine(second));
    const moved = await openKv(await postgresEngine(second));
    expect((await moved.get(["count"])).value).toEqual(new KvU64(BigInt(sum)));
    expect((await moved.get(["row", 299])).value).toBe(299);
    await moved.close();
    const old = await postgresEngine(first);
    await expect(openKv(old)).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
    await old.close();
  });
});
