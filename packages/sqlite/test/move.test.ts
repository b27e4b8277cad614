import { setImmediate } from "node:timers/promises";
import { type EmbeddedKv, KvU64, moveKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sqliteEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

let path: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ path, remove } = await temporaryFile());
});

afterEach(() => remove());

/** Counts commits until the database was moved. Returns their number, and where it was moved to. */
async function countUntilMoved(kv: EmbeddedKv, key: string): Promise<{ n: number; to: string }> {
  for (let n = 0; ; ) {
    try {
      await kv.atomic().sum(["count"], 1n).set(["last", key], n).commit();
      n++;
      // Such commits leave no time for others.
      await setImmediate();
    } catch (error) {
      const { code, to } = error as { code: string; to: string };
      if (code === "KW_DATABASE_MOVED") return { n, to };
      if (code !== "KW_DATABASE_MOVING") throw error;
    }
  }
}

it("moves to a LevelDB folder and back while 16 programs on four connections write", async () => {
  const files = await Promise.all(
    Array.from({ length: 4 }, async () => {
      return await openKv(await sqliteEngine({ path }), { durability: "relaxed", log: {} });
    }),
  );
  for (let n = 0; n < 500; n++) void files[0]!.set(["row", n], n);
  const running = Array.from({ length: 16 }, (_, n) => countUntilMoved(files[n % 4]!, `${n}`));
  const { commits } = await moveKv(files[0]!, `${path}-level`);
  const written = await Promise.all(running);
  expect(commits).toBeGreaterThan(0);
  expect(new Set(written.map(({ to }) => to))).toEqual(new Set([`${path}-level`]));
  const sum = written.reduce((total, { n }) => total + n, 0);
  for (const kv of files)
    await expect(kv.get(["count"])).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
  await Promise.all(files.map((kv) => kv.close()));
  const level = await openKv(`${path}-level`, { durability: "relaxed", log: {} });
  expect((await level.get(["count"])).value).toEqual(new KvU64(BigInt(sum)));
  for (const [n, { n: last }] of written.entries())
    expect((await level.get(["last", `${n}`])).value).toBe(last - 1);
  const others = Array.from({ length: 16 }, (_, n) => countUntilMoved(level, `b${n}`));
  await moveKv(level, await sqliteEngine({ path: `${path}-back` }), { to: "back" });
  const more = (await Promise.all(others)).reduce((total, { n }) => total + n, sum);
  await level.close();
  const back = await openKv(await sqliteEngine({ path: `${path}-back` }));
  expect((await back.get(["count"])).value).toEqual(new KvU64(BigInt(more)));
  expect((await back.get(["row", 499])).value).toBe(499);
  await back.close();
});
