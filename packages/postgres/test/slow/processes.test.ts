import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type EmbeddedKv, type KvU64, openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import { type PostgresOptions, postgresEngine } from "../../src/index.js";
import { describeOnServer, newTable } from "../server/shared-server.js";

const script = fileURLToPath(new URL("../work-in-process.mjs", import.meta.url));
const children: ChildProcess[] = [];
const databases: EmbeddedKv[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  for (const kv of databases.splice(0)) await kv.close();
});

interface Worker {
  readonly child: ChildProcess;
  /** Resolves with the next line that the process prints. */
  line(): Promise<string>;
}

type Table = ReturnType<typeof newTable>;

/** Starts a process. Resolves when it has printed its first line. */
async function start(table: Table, work: string, name = "", clockOffset = 0): Promise<Worker> {
  const args = [script, table.connectionString, table.prefix, work, name, String(clockOffset)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const lines = child.stdout.setEncoding("utf8")[Symbol.asyncIterator]();
  const line = async () => String((await lines.next()).value).trim();
  expect(await line()).toBe("ready");
  return { child, line };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function open(table: PostgresOptions): Promise<EmbeddedKv> {
  const kv = await openKv(await postgresEngine(table));
  databases.push(kv);
  return kv;
}

async function count(kv: EmbeddedKv, prefix: string): Promise<number> {
  let entries = 0;
  for await (const _ of kv.list({ prefix: [prefix] })) entries++;
  return entries;
}

/** Lets others wait for one second for the lease of a killed process, instead of 15. */
async function shortenLease(kv: EmbeddedKv): Promise<void> {
  const { key, value } = await kv.get<{ readonly timeToLive: number }>(["__keywright", "lease"]);
  expect(value?.timeToLive).toBe(15_000);
  await kv.set(key, { ...value, timeToLive: 1000 });
}

describeOnServer("several processes", () => {
  it("whose writers are killed in mid-batch leave no half of a commit", async () => {
    const table = newTable();
    const kv = await open(table);
    for (let round = 0; round < 2; round++) {
      const workers = [
        await start(table, "write", `a${round}`),
        await start(table, "write", `b${round}`),
      ];
      for (let i = 0; i < 20; i++)
        await kv
          .atomic()
          .sum(["sum"], 1n)
          .set(["done", `own:${round}:${i}`], 1)
          .commit();
      await Promise.all(workers.map(({ child }) => kill(child)));
    }
    const sum = async () => (await kv.get<KvU64>(["sum"])).value!.value;
    // The server may still apply the last batch of a process that was killed.
    for (let before = -1n; before !== (await sum()); before = await sum()) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await count(kv, "done")).toBe(Number(await sum()));
    expect(await sum()).toBeGreaterThan(40n);
  });

  it("share the messages of a queue, although their clocks differ by 5 seconds", async () => {
    const table = newTable();
    const kv = await open(table);
    await Promise.all([start(table, "listen", "a", 5000), start(table, "listen", "b", 0)]);
    // More than one process takes at a time. If both are slow, the faster one may take any number.
    const messages = 200;
    const reader = kv.watchRange([{ prefix: ["delivered"] }]).getReader();
    for (let i = 0; i < messages; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, j) => kv.enqueue(i + j)));
    }
    while ((await count(kv, "delivered")) < messages) await reader.read();
    for await (const { value } of kv.list<KvU64>({ prefix: ["delivered"] })) {
      expect(value.value).toBe(1n);
    }
    expect(await count(kv, "by")).toBe(2);
  });

  it("do not take the message of a process whose clock is 5 seconds ahead", async () => {
    const table = newTable();
    const kv = await open(table);
    await kv.enqueue("held");
    await start(table, "hold", "a", -5000);
    await start(table, "listen", "b", 5000);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await count(kv, "delivered")).toBe(0);
  });

  it("see each other's rows in live queries and watches", async () => {
    const table = newTable();
    const rows = defineModel({
      name: "rows",
      schema: z.object({ id: z.int(), color: z.string() }),
      primaryKey: "id",
      indexes: { byColor: { key: "color" } },
    });
    const [first, second] = [await open(table), await open(table)];
    const own = await createDatabase({ kv: first, models: { rows } });
    const other = await createDatabase({ kv: second, models: { rows } });
    const seen: number[] = [];
    for await (const items of own.rows.watchMany({ where: { color: "red" } })) {
      seen.push(items.length);
      if (items.length === 2) break;
      await other.rows.create({ data: { id: items.length, color: "red" } });
    }
    expect(seen).toEqual([0, 1, 2]);
  });

  it("migrate while others write, one at a time, and resume after one is killed in the middle", async () => {
    const table = newTable();
    const kv = await open(table);
    const fields = { id: z.int(), color: z.string() };
    const old = defineModel({ name: "rows", schema: z.object(fields), primaryKey: "id" });
    const db = await createDatabase({ kv, models: { rows: old } });
    const data = Array.from({ length: 3000 }, (_, id) => ({ id, color: id % 2 ? "red" : "blue" }));
    await db.rows.createMany({ data });
    const killed = await start(table, "stop in migration", "a", 5000);
    await kill(killed.child);
    const entries = await count(kv, "rows_by_color");
    expect(entries).toBeGreaterThan(0);
    expect(entries).toBeLessThan(3000);
    await shortenLease(kv);
    const workers = [
      await start(table, "migrate", "b", -5000),
      await start(table, "migrate", "c", 0),
    ];
    const ends = await Promise.all(workers.map(({ line }) => line()));
    expect(ends).toEqual(["done", "done"]);
    expect(await count(kv, "rows_by_color")).toBe(3000);
  });
});
