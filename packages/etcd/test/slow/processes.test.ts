import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Engine, type Kv, KvU64, openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import { expect, it } from "vitest";
import * as z from "zod";
import { type EtcdEngineOptions, etcdEngine } from "../../src/open-etcd.js";
import { collect } from "../server/collect.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

const worker = fileURLToPath(new URL("../processes/worker.mjs", import.meta.url));

/** Milliseconds by which the clocks of the processes differ from that of this one. */
const differences = [0, 5000, -5000];

const schema = z.object({ id: z.int(), group: z.int() });
const model = { name: "members", schema, primaryKey: "id" } as const;
const indexed = { ...model, indexes: { byGroup: { key: "group", count: true } } } as const;

/** Returns the arguments of the process with this number. */
function argumentsOf(options: EtcdEngineOptions, index: number, task: string): string[] {
  return [worker, JSON.stringify(options), String(differences[index]), task, String(index)];
}

/** Runs a task in several processes at once. Returns what each has printed. */
async function runProcesses(options: EtcdEngineOptions, task: string): Promise<string[]> {
  return await Promise.all(
    differences.map(async (_, index) => {
      const args = argumentsOf(options, index, task);
      const { stdout } = await promisify(execFile)(process.execPath, args);
      return stdout;
    }),
  );
}

describeEtcd("three processes whose clocks differ by 5 seconds", 1, (cluster) => {
  it("lose no increment of each other, and a fourth one sees all changes", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    const kv = await openKv(await etcdEngine(options));
    try {
      const changes = kv.watchRange([{ prefix: ["added"] }]).getReader();
      const added = new Set<string>();
      const running = runProcesses(options, "addToCounters");
      while (added.size < 75) {
        const { value } = await changes.read();
        for (const [, process, i] of value!.keys) added.add(`${process} ${i}`);
      }
      await running;
      const [sum, checked] = await kv.getMany([["sum"], ["checked"]]);
      expect(sum.value).toEqual(new KvU64(75n));
      expect(checked.value).toBe(75);
    } finally {
      await kv.close();
    }
  });

  it("build an index together, once, and write to it", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    const kv = await openKv(await etcdEngine(options));
    try {
      const before = await createDatabase({ kv, models: { members: defineModel(model) } });
      const data = Array.from({ length: 1500 }, (_, id) => ({ id, group: id % 5 }));
      await before.members.createMany({ data });
      expect(await runProcesses(options, "buildIndex")).toEqual(["300", "300", "300"]);
      const db = await createDatabase({ kv, models: { members: defineModel(indexed) } });
      for (const group of [0, 1, 2, 3, 4, 7]) {
        const { items: rows } = await db.members.findMany({ where: { group } });
        expect(rows.length).toBe(group === 7 ? 60 : 300);
        expect(await db.members.count({ where: { group } })).toBe(rows.length);
      }
    } finally {
      await kv.close();
    }
  });

  it("are seen by the live query of a fourth one", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    const kv = await openKv(await etcdEngine(options));
    try {
      const db = await createDatabase({ kv, models: { members: defineModel(indexed) } });
      const where = { group: 1 };
      const seen: number[] = [];
      let running: Promise<unknown> | undefined;
      for await (const rows of db.members.watchMany({ where })) {
        running ??= promisify(execFile)(process.execPath, argumentsOf(options, 1, "createRows"));
        seen.push(rows.length);
        if (rows.length === 5) break;
      }
      await running;
      expect(seen[0]).toBe(0);
      expect(seen).toEqual([...new Set(seen)].sort());
    } finally {
      await kv.close();
    }
  });

  it("are killed in the middle of a migration, which a fourth one continues", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    const kv = await openKv(await etcdEngine(options));
    try {
      const db = await createDatabase({ kv, models: { members: defineModel(model) } });
      const count = 1500;
      const data = Array.from({ length: count }, (_, id) => ({ id, group: id % 5 }));
      await db.members.createMany({ data });
      const killed = spawn(process.execPath, argumentsOf(options, 1, "stopInMigration"), {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(killed, "exit");
      await Promise.race([once(killed.stdout, "data"), ended]);
      killed.kill("SIGKILL");
      await ended;
      const entries = () => collect(kv.list({ prefix: ["members_by_group"] }));
      const before = await entries();
      expect(before.length).toBeGreaterThan(0);
      expect(before.length).toBeLessThan(count);
      await shortenLease(kv);
      const after = await createDatabase({ kv, models: { members: defineModel(indexed) } });
      expect((await migrate(after, { wait: true })).status).toBe("done");
      // What the killed process has written is not written again.
      expect(await entries()).toEqual(expect.arrayContaining(before));
      for (const group of [0, 1, 2, 3, 4]) {
        const { items: rows } = await after.members.findMany({ where: { group } });
        expect(rows.map(({ id }) => id % 5)).toEqual(Array(count / 5).fill(group));
        expect(await after.members.count({ where: { group } })).toBe(count / 5);
      }
    } finally {
      await kv.close();
    }
  });

  it("take each message of a queue once", async () => {
    const options = { endpoints: cluster().endpoints, prefix: newPrefix() };
    const engine = await etcdEngine(options);
    const kv = await openKv(engine);
    try {
      const running = runProcesses(options, "takeMessages");
      const numbers = Array.from({ length: 200 }, (_, i) => i);
      // Some come before the processes listen, the others while they do.
      for (const number of numbers) await kv.enqueue(number, { keysIfUndelivered: [["lost"]] });
      while (!(await isQueueEmpty(engine))) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await kv.set(["stop"], true);
      const taken = (await running).flatMap((text) => JSON.parse(text.split("\n")[1]!) as number[]);
      expect(taken.sort((a, b) => a - b)).toEqual(numbers);
      expect((await kv.get(["lost"])).versionstamp).toBeNull();
    } finally {
      await kv.close();
    }
  });
});

/** Lets others wait for one second for the lease of a killed process, instead of 15. */
async function shortenLease(kv: Kv): Promise<void> {
  const { key, value } = await kv.get<{ readonly timeToLive: number }>(["__keywright", "lease"]);
  expect(value?.timeToLive).toBe(15_000);
  await kv.set(key, { ...value, timeToLive: 1000 });
}

async function isQueueEmpty(engine: Engine): Promise<boolean> {
  const range = { start: Uint8Array.of(0, 4), end: Uint8Array.of(0, 5) };
  return (await engine.getRange({ range, limit: 1, reverse: false })).length === 0;
}
