import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type EmbeddedKv, KvU64, openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { lmdbEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

const program = fileURLToPath(new URL("work-in-process.mjs", import.meta.url));
const processes = 3;

let path: string;
let remove: () => Promise<void>;
let kv: EmbeddedKv;

beforeEach(async () => {
  ({ path, remove } = await temporaryFile());
  kv = await openKv(await lmdbEngine({ path }));
});

afterEach(async () => {
  await kv.close();
  await remove();
});

/** Runs a task in several processes at once. Returns the lines that each has printed. */
async function runProcesses(work: string): Promise<string[][]> {
  return await Promise.all(
    Array.from({ length: processes }, async (_, name) => {
      const args = [program, path, work, String(name)];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      return stdout.trimEnd().split("\n");
    }),
  );
}

function start(work: string, name: string): ChildProcess {
  const args = [program, path, work, name];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

// They wait for other processes, on whatever machine.
describe("several processes on one LMDB file", () => {
  // LMDB rarely aborts a transaction if several processes write (MDB_BAD_TXN of lmdb 3.5.6).
  it("lose no update of each other, and a watch sees all of them", { retry: 2 }, async () => {
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
    expect(new Set(printed.flat()).size).toBe(total);
    const [sum, checked] = await kv.getMany([["sum"], ["checked"]]);
    expect(sum.value).toEqual(new KvU64(BigInt(total)));
    expect(checked.value).toBe(total);
    expect((await kv.verifyFiles?.())?.damages).toEqual([]);
  });

  it("continue after one of them is killed, and have all that it acknowledged", async () => {
    const survivor = start("write until killed", "survivor");
    const acknowledged = new Map<string, string>();
    const note = async (child: ChildProcess, name: string) => {
      for await (const line of createInterface({ input: child.stdout! })) {
        const [n, versionstamp] = line.split(" ");
        acknowledged.set(`${name},${n}`, versionstamp!);
      }
    };
    const noting = note(survivor, "survivor");
    for (let round = 0; round < 8; round++) {
      const before = acknowledged.size;
      const victim = start("write until killed", `victim ${round}`);
      const notingVictim = note(victim, `victim ${round}`);
      await expect
        .poll(() => acknowledged.size, { timeout: 60_000 })
        .toBeGreaterThan(before + 20 + round * 7);
      victim.kill("SIGKILL");
      await once(victim, "exit");
      await notingVictim;
      // The write lock of the killed process is free.
      await kv.atomic().sum(["sum"], 1n).commit();
    }
    survivor.kill("SIGKILL");
    await noting;
    let entries = 0;
    for await (const { key, versionstamp } of kv.list({ prefix: ["written"] })) {
      entries++;
      const text = key.slice(1).join();
      if (acknowledged.has(text)) expect(versionstamp).toBe(acknowledged.get(text));
      acknowledged.delete(text);
    }
    expect([...acknowledged.keys()]).toEqual([]);
    expect((await kv.get(["sum"])).value).toEqual(new KvU64(BigInt(entries + 8)));
    expect((await kv.verifyFiles?.())?.damages).toEqual([]);
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
});
