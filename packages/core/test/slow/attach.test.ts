import { once } from "node:events";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AmbiguousCommitError, EngineUnavailableError } from "../../src/errors/core-errors.js";
import type { EmbeddedKv } from "../../src/index.js";
import { openKv } from "../../src/kv/open-kv.js";
import { OwnerProcess } from "../owner-process.js";
import { makeFolder, removeFolder } from "../temporary-folder.js";

let folder: string;
let owner: OwnerProcess;
let kv: EmbeddedKv | undefined;
beforeEach(async () => {
  folder = await makeFolder();
  owner = new OwnerProcess();
});
afterEach(async () => {
  await kv?.close();
  kv = undefined;
  await owner.kill();
  await removeFolder(folder);
});

/** Opens the folder here while another process owns it. */
async function attached(): Promise<EmbeddedKv> {
  await owner.open(folder);
  kv = await openKv(folder);
  return kv;
}

describe("a second process", () => {
  it("uses the database through the first one, and says so", async () => {
    const own = await attached();
    expect(own.attached).toEqual({ pid: owner.pid });
    expect(own.isShared).toBe(true);
    await own.set(["a"], 1);
    await own.close();
    await owner.close(folder);
    kv = await openKv(folder);
    expect(kv.attached).toBeUndefined();
    expect(kv.isShared).toBe(false);
    expect((await kv.get(["a"])).value).toBe(1);
  });

  it("is refused with attach: false, on either side", async () => {
    await owner.open(folder);
    await expect(openKv(folder, { attach: false })).rejects.toMatchObject({
      code: "KW_DATABASE_LOCKED",
      retryable: true,
      path: folder,
    });
    await owner.close(folder);
    await owner.open(folder, { attach: { serve: false } });
    await expect(openKv(folder)).rejects.toMatchObject({ code: "KW_DATABASE_LOCKED" });
  });

  it("waits until the first one is open", async () => {
    const [opened] = await Promise.all([openKv(folder), owner.open(folder)]);
    kv = opened;
    await kv.set(["a"], 1);
    expect((await kv.get(["a"])).value).toBe(1);
  });

  it("is told that the database has the other mode", async () => {
    await owner.open(folder);
    await expect(openKv(folder, { compat: "deno" })).rejects.toMatchObject({
      code: "KW_DATABASE_MODE",
      mode: "specification",
    });
  });

  it("gets the errors of the first one with their classes and fields", async () => {
    const own = await attached();
    await own.set(["text"], "x");
    await expect(own.atomic().sum(["text"], 1n).commit()).rejects.toMatchObject({
      name: "NotU64Error",
      code: "KW_VALUE_NOT_U64",
    });
    await expect(own.atomic().sum(["text"], 1n).commit()).rejects.toBeInstanceOf(TypeError);
  });

  it("verifies the files of the first one", async () => {
    const own = await attached();
    expect(await own.verifyFiles()).toMatchObject({ damages: [] });
  });

  it("can name the socket itself, or its folder", async () => {
    await owner.open(folder);
    for (const address of [`unix:${folder}`, `unix:${join(folder, "attach.sock")}`]) {
      const own = await openKv(address);
      expect(own.attached).toEqual({ pid: owner.pid });
      await own.set(["a"], address);
      expect((await own.get(["a"])).value).toBe(address);
      await own.close();
    }
    await owner.close(folder);
    await expect(openKv(`unix:${folder}`)).rejects.toMatchObject({
      code: "KW_ENGINE_UNAVAILABLE",
    });
  });

  it("works in a folder whose path is too long for a socket", async () => {
    if (process.platform !== "linux") return;
    const long = join(folder, "x".repeat(120));
    await mkdir(long);
    await owner.open(long);
    kv = await openKv(long);
    expect(kv.attached).toEqual({ pid: owner.pid });
    await kv.set(["a"], 1);
  });
});

/** Calls a function of core in a new thread. Resolves with "done" or the code of the error. */
async function callInThread(call: string, ...args: unknown[]): Promise<string> {
  const core = new URL("../../dist/index.js", import.meta.url).href;
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(${JSON.stringify(core)})
      .then((core) => core.${call}(...workerData))
      .then((result) => result.close?.())
      .then(() => "done", (error) => error.code)
      .then((outcome) => parentPort.postMessage(outcome));`;
  const thread = new Worker(code, { eval: true, execArgv: [], workerData: args });
  try {
    return await new Promise((resolve, reject) => {
      thread.once("message", resolve);
      thread.once("error", reject);
    });
  } finally {
    await thread.terminate();
  }
}

describe("a second thread", () => {
  // On POSIX systems, a lock ends when the process closes any descriptor of the file.
  it("that is refused leaves the lock to the first one", async () => {
    kv = await openKv(folder, { attach: { serve: false } });
    const refused = await Promise.all([
      callInThread("openKv", folder, { attach: false }),
      callInThread("repairDatabase", folder, { inPlace: true }),
    ]);
    expect(refused).toEqual(["KW_DATABASE_LOCKED", "KW_DATABASE_LOCKED"]);
    await expect(owner.open(folder, { attach: false })).rejects.toThrow("is open in another");
    await kv.close();
    kv = undefined;
    expect(await callInThread("openKv", folder, { attach: false })).toBe("done");
  });
});

describe("an owner that closes in another thread", () => {
  it("is replaced by this thread, because both are one program", async () => {
    const core = new URL("../../dist/index.js", import.meta.url).href;
    const code = `
      const { parentPort, workerData } = require("node:worker_threads");
      import(${JSON.stringify(core)})
        .then((core) => core.openKv(workerData))
        .then((kv) => {
          parentPort.once("message", () => kv.close());
          parentPort.postMessage("open");
        });`;
    const thread = new Worker(code, { eval: true, execArgv: [], workerData: folder });
    try {
      await once(thread, "message");
      kv = await openKv(folder);
      expect(kv.attached).toEqual({ pid: process.pid });
      const changes = kv.watchRange([{ prefix: ["a"] }]).getReader();
      await kv.set(["a"], 1);
      thread.postMessage("close");
      await once(thread, "exit");
      expect((await kv.get(["a"])).value).toBe(1);
      await kv.set(["a", 1], 2);
      expect((await changes.read()).done).toBe(false);
      expect(kv.attached).toBeUndefined();
    } finally {
      await thread.terminate();
    }
  });
});

describe("an owner that is stopped", () => {
  it("is named by a process that opens the folder, and owns it when it continues", async () => {
    if (process.platform === "win32") return;
    await owner.open(folder);
    owner.signal("SIGSTOP");
    try {
      await expect(openKv(folder)).rejects.toMatchObject({
        code: "KW_ENGINE_UNAVAILABLE",
        reason: expect.stringContaining(`(${owner.pid}) did not answer within`),
      });
    } finally {
      owner.signal("SIGCONT");
    }
    kv = await openKv(folder);
    expect(kv.attached).toEqual({ pid: owner.pid });
  });

  it("and continues loses no acknowledged commit, and makes none twice", async () => {
    if (process.platform === "win32") return;
    const own = await attached();
    const stamps = new Map<number, string>();
    const outcomes = new Set<unknown>();
    let next = 0;
    let isDone = false;
    const write = async () => {
      while (!isDone) {
        const n = next++;
        try {
          const result = await own.atomic().set(["n", n], n).sum(["sum"], 1n).commit();
          if (result.ok) stamps.set(n, result.versionstamp);
        } catch (error) {
          outcomes.add((error as { code?: unknown }).code);
        }
      }
    };
    const writers = Array.from({ length: 64 }, write);
    // Shorter and longer than a client waits for a silent connection, and longer than its calls do.
    for (const time of [1000, 3500, 6500]) {
      await sleep(50);
      owner.signal("SIGSTOP");
      await sleep(time);
      owner.signal("SIGCONT");
    }
    isDone = true;
    await Promise.all(writers);
    let stored = 0n;
    for await (const { key, versionstamp } of own.list<number>({ prefix: ["n"] })) {
      stored++;
      const n = key[1] as number;
      expect(stamps.get(n) ?? versionstamp).toBe(versionstamp);
      stamps.delete(n);
    }
    expect([...stamps]).toEqual([]);
    expect((await own.get<{ value: bigint }>(["sum"])).value).toMatchObject({ value: stored });
    expect([...outcomes]).toContain("KW_COMMIT_AMBIGUOUS");
  });
});

describe("the socket", () => {
  it("is only for the same user, and is removed at the end", async () => {
    kv = await openKv(folder);
    const { mode } = await stat(join(folder, "attach.sock"));
    expect(mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).not.toContain("attach.new");
    await kv.close();
    expect(await readdir(folder)).not.toContain("attach.sock");
    expect(await readdir(folder)).not.toContain("attach.pid");
  });

  it("of a process that was killed is replaced", async () => {
    await owner.open(folder);
    await owner.kill();
    expect(await readdir(folder)).toContain("attach.sock");
    kv = await openKv(folder);
    expect(kv.attached).toBeUndefined();
    owner = new OwnerProcess();
    await expect(owner.open(folder)).resolves.toBeUndefined();
  });
});

describe("when the owner ends", () => {
  it("calls wait for another one", async () => {
    const own = await attached();
    await own.set(["a"], 1);
    // Calls wait for 5 seconds, in which a process may not even start on a busy machine.
    const next = new OwnerProcess();
    await next.open(join(folder, "other"));
    await owner.kill();
    owner = next;
    const read = own.get(["a"]);
    const commit = own.set(["b"], 2);
    await owner.open(folder);
    expect((await read).value).toBe(1);
    expect((await commit).ok).toBe(true);
    expect(own.attached).toEqual({ pid: owner.pid });
  });

  it("calls fail if there is none, and later ones work when there is one again", async () => {
    const own = await attached();
    const { pid } = owner;
    await owner.kill();
    const error = await own.get(["a"]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EngineUnavailableError);
    expect((error as Error).message).toContain(`the process that owns it (${pid}) does not answer`);
    owner = new OwnerProcess();
    await owner.open(folder);
    expect((await own.get(["a"])).versionstamp).toBeNull();
  });

  it("commits are made once each, and the versionstamps are those of the entries", async () => {
    const own = await attached();
    const stamps = new Map<number, string>();
    const unknown = new Set<number>();
    let next = 0;
    let isDone = false;
    const write = async () => {
      while (!isDone) {
        const n = next++;
        try {
          const result = await own.atomic().set(["n", n], n).sum(["sum"], 1n).commit();
          if (result.ok) stamps.set(n, result.versionstamp);
        } catch (error) {
          // A new owner may take longer to start than a call waits for it.
          if (error instanceof AmbiguousCommitError) unknown.add(n);
          else if (!(error instanceof EngineUnavailableError)) throw error;
        }
      }
    };
    const writers = Array.from({ length: 64 }, write);
    for (let kill = 0; kill < 3; kill++) {
      await sleep(60);
      await owner.kill();
      owner = new OwnerProcess();
      await owner.open(folder);
    }
    isDone = true;
    await Promise.all(writers);
    let stored = 0n;
    for await (const { key, versionstamp } of own.list({ prefix: ["n"] })) {
      stored++;
      const n = key[1] as number;
      expect(unknown.has(n) ? versionstamp : stamps.get(n)).toBe(versionstamp);
      stamps.delete(n);
    }
    expect([...stamps]).toEqual([]);
    expect((await own.get<{ value: bigint }>(["sum"])).value).toMatchObject({ value: stored });
  });

  it("a process that asked for it takes over", async () => {
    await owner.open(folder);
    kv = await openKv(folder, { attach: { takeOver: true } });
    await kv.set(["a"], 1);
    await owner.kill();
    expect((await kv.get(["a"])).value).toBe(1);
    expect(kv.attached).toBeUndefined();
    owner = new OwnerProcess();
    // The other one is attached now.
    await owner.open(folder, { attach: { takeOver: true } });
    await kv.set(["b"], 2);
    await kv.close();
    kv = await openKv(folder);
    expect((await kv.get(["b"])).value).toBe(2);
  });

  it("watches continue, and miss nothing", async () => {
    const own = await attached();
    const changes = own.watchRange([{ prefix: ["a"] }]).getReader();
    const entries = own.watch([["a", 1]]).getReader();
    expect((await entries.read()).value?.[0].value).toBeNull();
    await own.set(["a", 1], "before");
    expect((await changes.read()).value).toEqual({ keys: [["a", 1]], isComplete: true });
    expect((await entries.read()).value?.[0].value).toBe("before");
    await owner.kill();
    owner = new OwnerProcess();
    await owner.open(folder);
    await own.set(["a", 1], "after");
    expect((await changes.read()).done).toBe(false);
    expect((await entries.read()).value?.[0].value).toBe("after");
  });

  it("listeners continue, and get every message", async () => {
    const own = await attached();
    const seen = new Set<unknown>();
    let onAll: () => void = () => undefined;
    const all = new Promise<void>((resolve) => {
      onAll = resolve;
    });
    void own.listenQueue((value) => {
      seen.add(value);
      if (seen.size === 3) onAll();
    });
    await own.enqueue("one");
    await owner.kill();
    owner = new OwnerProcess();
    await owner.open(folder);
    await own.enqueue("two");
    await own.enqueue("three");
    await all;
    expect([...seen].sort()).toEqual(["one", "three", "two"]);
  });
});
