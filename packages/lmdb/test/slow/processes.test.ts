import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { type EmbeddedKv, KvU64, openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { lmdbEngine } from "../../src/index.js";
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
  return await openKv(await lmdbEngine({ path }), { attach: { takeOver: true } });
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

describe("several processes with one LMDB file", () => {
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

  // LMDB itself would undo commits of others whenever a process opens the file.
  it("lose no commit while each of them opens and closes the file", async () => {
    await kv.close();
    const printed = await runProcesses("open and close");
    kv = await open();
    await expectCounted(printed, processes * 20 * 4);
  });

  it("continue after the owner is killed, and have all that was acknowledged", async () => {
    await kv.close();
    const acknowledged = new Map<string, string>();
    const note = async (child: ChildProcess, name: string) => {
      for await (const line of createInterface({ input: child.stdout! })) {
        const [n, versionstamp] = line.split(" ");
        acknowledged.set(`${name},${n}`, versionstamp!);
      }
    };
    const writesOf = (name: string) =>
      [...acknowledged.keys()].filter((key) => key.startsWith(`${name},`)).length;
    // The first one owns the file, and later always the one that is killed next, or the survivor.
    const children: [name: string, child: ChildProcess, noting: Promise<void>][] = [];
    const begin = async (name: string) => {
      const child = start("write until killed", name);
      children.push([name, child, note(child, name)]);
      await expect.poll(() => writesOf(name)).toBeGreaterThan(10);
    };
    await begin("first");
    await begin("second");
    for (let round = 0; round < 5; round++) {
      const [, owner, noting] = children.shift()!;
      owner.kill("SIGKILL");
      await once(owner, "exit");
      await noting;
      const [name] = children[0]!;
      const before = writesOf(name);
      await expect.poll(() => writesOf(name)).toBeGreaterThan(before + 10);
      await begin(`round ${round}`);
    }
    for (const [, child, noting] of children) {
      child.kill("SIGKILL");
      await noting;
    }
    kv = await open();
    expect(kv.attached).toBeUndefined();
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
  });

  it("build an index together", async () => {
    const schema = z.object({ id: z.int(), group: z.int() });
    const members = defineModel({ name: "members", schema, primaryKey: "id" });
    const db = await createDatabase({ kv, models: { members } });
    const data = Array.from({ length: 1500 }, (_, id) => ({ id, group: id % 5 }));
    await db.members.createMany({ data });
    expect(await runProcesses("build index")).toEqual([["300"], ["300"], ["300"]]);
    expect(await db.members.count()).toBe(1503);
  });

  it("attach to the thread that owns the file, also from another thread", async () => {
    await kv.set(["a"], 1);
    const thread = new Worker(program, { argv: [path, "attach", "thread"], stdout: true });
    let printed = "";
    thread.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    await Promise.all([once(thread, "exit"), once(thread.stdout, "end")]);
    expect(printed).toBe(`${process.pid} 1\nKW_DATABASE_LOCKED\n`);
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
      expect(error).toMatch(/^KW_ENGINE_FAILED \d+ true$/);
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
      "1",
      "KW_DATABASE_READ_ONLY",
      "KW_DATABASE_PATH_INVALID",
    ]);
  });
});
