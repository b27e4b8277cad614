import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { type EmbeddedKv, KvU64, openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { sqliteEngine } from "../../src/index.js";
import { temporaryFile } from "../temporary-file.js";

const program = fileURLToPath(new URL("../work-in-process.mjs", import.meta.url));
const processes = 3;
const run = promisify(execFile);

let path: string;
let remove: () => Promise<void>;
let kv: EmbeddedKv;

beforeEach(async () => {
  ({ path, remove } = await temporaryFile());
  kv = await open();
});

afterEach(async () => {
  await kv.close();
  await remove();
});

async function open(): Promise<EmbeddedKv> {
  return await openKv(await sqliteEngine({ path }), { durability: "relaxed" });
}

/** Runs a task in several processes at once. Returns the lines that each has printed. */
async function runProcesses(work: string): Promise<string[][]> {
  return await Promise.all(
    Array.from({ length: processes }, async (_, name) => {
      const { stdout } = await run(process.execPath, [program, path, work, String(name)]);
      return stdout.trimEnd().split("\n");
    }),
  );
}

function start(work: string, name: string): ChildProcess {
  const args = [program, path, work, name];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Each printed versionstamp is that of one commit, and each commit is there. */
async function expectCounted(printed: readonly string[][], total: number): Promise<void> {
  const stamps = printed.flat();
  expect(new Set(stamps).size).toBe(total);
  const [sum, checked] = await kv.getMany([["sum"], ["checked"]]);
  expect(sum.value).toEqual(new KvU64(BigInt(total)));
  expect(checked.value).toBe(total);
  const stored: string[] = [];
  for await (const { versionstamp } of kv.list({ prefix: ["done"] })) stored.push(versionstamp);
  expect(stored.toSorted()).toEqual(stamps.toSorted());
  expect((await kv.verifyFiles())?.damages).toEqual([]);
}

/** Adds the versionstamps that a process prints until `isEnough` returns true. */
async function versionstampsOf(
  child: ChildProcess,
  into: string[],
  isEnough: () => boolean,
): Promise<void> {
  for await (const line of createInterface({ input: child.stdout! })) {
    into.push(line.split(" ")[1]!);
    if (isEnough()) return;
  }
}

describe("several processes with one SQLite file", () => {
  it("let each other commit, although each commits all the time", async () => {
    const wanted = 200;
    const written: string[][] = [[], []];
    const isEnough = () => written.every(({ length }) => length >= wanted);
    const children = ["0", "1"].map((name) => start("write until killed", name));
    try {
      await Promise.all(children.map((child, i) => versionstampsOf(child, written[i]!, isEnough)));
    } finally {
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(children.map((child) => once(child, "exit")));
    }
    // Only the time in which both have written counts.
    const first = written.map((stamps) => stamps[0]!).toSorted()[1]!;
    const last = written.map((stamps) => stamps.at(-1)!).toSorted()[0]!;
    const order = written
      .flatMap((stamps, writer) => stamps.map((stamp) => ({ stamp, writer })))
      .filter(({ stamp }) => stamp >= first && stamp <= last)
      .toSorted((a, b) => (a.stamp < b.stamp ? -1 : 1));
    const rows = order.filter(({ writer }, i) => writer !== order[i - 1]?.writer).length;
    // A process alone with the lock would commit many times in a row.
    expect(order.length / rows).toBeLessThan(2);
  });

  it("lose no update of each other, and a watch sees all of them", async () => {
    const changes = kv.watchRange([{ prefix: ["done"] }]).getReader();
    const running = runProcesses("count");
    const total = processes * 8 * 25;
    const seen = new Set<string>();
    // Only rejects: a process that fails ends the test.
    const failure = running.then(() => new Promise<never>(() => undefined));
    while (seen.size < total) {
      const { value } = await Promise.race([changes.read(), failure]);
      for (const key of value!.keys) seen.add(key.join());
    }
    const printed = await running;
    for (const versionstamps of printed) expect(versionstamps).toEqual(versionstamps.toSorted());
    await expectCounted(printed, total);
  });

  // The last one that closes it copies the log into the file and deletes the log.
  it("lose no commit while each of them opens and closes the file", async () => {
    await kv.close();
    const printed = await runProcesses("open and close");
    kv = await open();
    await expectCounted(printed, processes * 20 * 4);
  });

  it("continue after one is killed, and have all that was acknowledged", async () => {
    const acknowledged = new Map<string, string>();
    const writesOf = (name: string) =>
      [...acknowledged.keys()].filter((key) => key.startsWith(`${name},`)).length;
    const begin = async (name: string) => {
      const child = start("write until killed", name);
      const noting = (async () => {
        for await (const line of createInterface({ input: child.stdout! })) {
          const [n, versionstamp] = line.split(" ");
          acknowledged.set(`${name},${n}`, versionstamp!);
        }
      })();
      await expect.poll(() => writesOf(name)).toBeGreaterThan(10);
      return { name, child, noting };
    };
    const children = [await begin("first"), await begin("second")];
    for (let round = 0; round < 5; round++) {
      const { child, noting } = children.shift()!;
      child.kill("SIGKILL");
      await once(child, "exit");
      await noting;
      const { name } = children[0]!;
      const before = writesOf(name);
      await expect.poll(() => writesOf(name)).toBeGreaterThan(before + 10);
      children.push(await begin(`round ${round}`));
    }
    for (const { child, noting } of children) {
      child.kill("SIGKILL");
      await noting;
    }
    await expectAllOf(acknowledged);
  });

  it("leave a log that the next one reads, if all of them are killed", async () => {
    await kv.close();
    const acknowledged = new Map<string, string>();
    const child = start("write until killed", "only");
    for await (const line of createInterface({ input: child.stdout! })) {
      const [n, versionstamp] = line.split(" ");
      acknowledged.set(`only,${n}`, versionstamp!);
      if (acknowledged.size === 100) child.kill("SIGKILL");
    }
    expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
    kv = await open();
    await expectAllOf(acknowledged);
  });

  /** Each acknowledged commit is there, and no half of another one. */
  async function expectAllOf(acknowledged: Map<string, string>): Promise<void> {
    let entries = 0;
    for await (const { key, versionstamp } of kv.list({ prefix: ["written"] })) {
      entries++;
      const text = key.slice(1).join();
      if (acknowledged.has(text)) expect(versionstamp).toBe(acknowledged.get(text));
      acknowledged.delete(text);
    }
    expect([...acknowledged.keys()]).toEqual([]);
    expect((await kv.get(["sum"])).value).toEqual(new KvU64(BigInt(entries)));
    expect((await kv.verifyFiles())?.damages).toEqual([]);
  }

  it("build an index together", async () => {
    const schema = z.object({ id: z.int(), group: z.int() });
    const members = defineModel({ name: "members", schema, primaryKey: "id" });
    const db = await createDatabase({ kv, models: { members } });
    const data = Array.from({ length: 1500 }, (_, id) => ({ id, group: id % 5 }));
    await db.members.createMany({ data });
    expect(await runProcesses("build index")).toEqual([["300"], ["300"], ["300"]]);
    expect(await db.members.count()).toBe(1503);
  });

  it("share it with threads of this process", async () => {
    const threads = [0, 1].map(
      (name) => new Worker(program, { argv: [path, "count in thread", String(name)] }),
    );
    await Promise.all(threads.map((thread) => once(thread, "exit")));
    expect((await kv.get(["sum"])).value).toEqual(new KvU64(100n));
    expect((await kv.verifyFiles())?.damages).toEqual([]);
  });
});

/** True if this user can mount file systems in a namespace of its own. */
const canMount = (() => {
  try {
    execFileSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** Runs a task with commands of the shell before it, in a namespace in which it can mount. */
async function runMounted(commands: string, work: string): Promise<string[]> {
  const script = `${commands} && exec "$0" "$1" "$2" "$3"`;
  const args = ["-rm", "sh", "-c", script, process.execPath, program, path, work];
  return (await run("unshare", args)).stdout.trimEnd().split("\n");
}

describe("a disk", () => {
  it.skipIf(process.platform === "win32")(
    "that refuses a write fails the commit, and does not end the program",
    async () => {
      await kv.close();
      const script = 'ulimit -f 3000; exec "$0" "$1" "$2" "$3"';
      const work = "write until the disk is full";
      const { stdout } = await run("sh", ["-c", script, process.execPath, program, path, work]);
      const [error, ...others] = stdout.trimEnd().split("\n");
      expect(error).toMatch(/^KW_ENGINE_FAILED \S+ true$/);
      expect(others).toEqual(["50000", "closed"]);
    },
  );

  it.skipIf(!canMount)("that is full is named as such", async () => {
    await kv.close();
    const folder = path.replace(/\/[^/]*$/, "");
    const mount = `mount -t tmpfs -o size=3m tmpfs ${folder}`;
    expect(await runMounted(mount, "write until the disk is full")).toEqual([
      "KW_ENGINE_FAILED ENOSPC true",
      "50000",
      "closed",
    ]);
  });

  it.skipIf(!canMount)("that is read-only can be read", async () => {
    await kv.set(["a"], 1);
    await kv.close();
    const folder = path.replace(/\/[^/]*$/, "");
    const mount = `mount --bind ${folder} ${folder} && mount -o remount,ro,bind ${folder}`;
    expect(await runMounted(mount, "read only")).toEqual([
      "KW_DATABASE_PATH_INVALID",
      "1",
      "KW_DATABASE_READ_ONLY",
    ]);
  });
});
