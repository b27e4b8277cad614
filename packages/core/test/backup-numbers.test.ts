import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { backup, folderSink, restore, verifyBackup } from "../src/backup.js";
import { openKv } from "../src/index.js";
import { MemorySink } from "./backup-sink.js";
import { engineOf } from "./engine-of.js";
import { withFolder } from "./temporary-folder.js";

const program = fileURLToPath(new URL("back-up-at-once.mjs", import.meta.url));

function numbersOf(manifests: readonly string[]): string[] {
  return manifests.map((name) => name.slice(0, 8)).sort();
}

/** A sink that lets the first `programs` calls of `put` begin together. */
function sinkAtOnce(programs: number): MemorySink {
  const sink = new MemorySink();
  const put = sink.put.bind(sink);
  let arrived = 0;
  let open: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  sink.put = async (name, bytes) => {
    if (++arrived === programs) open();
    await isOpen;
    await put(name, bytes);
  };
  return sink;
}

it("full backups that begin at the same moment have different numbers", async () => {
  await using kv = await openKv(":memory:", { log: {} });
  await kv.set(["a"], 1);
  const sink = sinkAtOnce(5);
  await Promise.all(Array.from({ length: 5 }, () => backup(kv, sink)));
  const numbers = numbersOf(sink.named(".full"));
  expect(new Set(numbers).size).toBe(5);
  expect(sink.named("claim")).toEqual([]);
  expect((await verifyBackup(sink)).backups).toBe(5);
});

it("a full backup does not take the number of one that has not written anything else", async () => {
  await using kv = await openKv();
  const sink = new MemorySink();
  const remove = sink.delete.bind(sink);
  sink.putsLeft = 1;
  sink.delete = async () => {
    throw new Error("the program was killed");
  };
  await expect(backup(kv, sink)).rejects.toThrow("killed");
  sink.delete = remove;
  expect(sink.named("00000001").length).toBe(1);
  sink.putsLeft = Number.POSITIVE_INFINITY;
  await backup(kv, sink);
  expect(numbersOf(sink.named(".full"))).toEqual(["00000002"]);
  expect((await verifyBackup(sink)).unfinished).toBe(1);
  await backup(kv, sink, { keep: 1 });
  expect(sink.named("").length).toBe(1);
});

it("a full backup that fails before it has entries leaves nothing", async () => {
  await using kv = await openKv(await engineOf({ hasViews: false }));
  const sink = new MemorySink();
  await expect(backup(kv, sink)).rejects.toMatchObject({ code: "KW_BACKUP_DATABASE" });
  expect(sink.named("")).toEqual([]);
});

it("two processes that begin full backups at the same moment take different numbers", async () => {
  await withFolder(async (folder) => {
    const backups = 4;
    const children: ChildProcess[] = [];
    try {
      for (let n = 0; n < 2; n++)
        children.push(fork(program, [`${folder}/sink`, String(backups)], { execArgv: [] }));
      const ended = Promise.all(children.map((child) => once(child, "exit")));
      for (let n = 0; n < backups; n++) {
        await Promise.all(children.map((child) => once(child, "message")));
        for (const child of children) child.send("go");
      }
      expect(await ended).toEqual([
        [0, null],
        [0, null],
      ]);
    } finally {
      for (const child of children) child.kill("SIGKILL");
    }
    const sink = folderSink(`${folder}/sink`);
    const numbers = numbersOf((await sink.list("")).filter((name) => name.endsWith(".full")));
    expect(numbers.length).toBe(2 * backups);
    expect(new Set(numbers).size).toBe(2 * backups);
    await using kv = await openKv();
    expect((await restore(sink, kv)).entries).toBe(1);
  });
});
