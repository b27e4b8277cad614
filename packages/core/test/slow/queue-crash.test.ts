import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import type { Kv } from "../../src/kv/kv.js";
import { openKv } from "../../src/kv/open-kv.js";
import { withFolder } from "../temporary-folder.js";

const scriptOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** What processes have said before they were killed. */
interface Said {
  readonly enqueued: Set<string>;
  readonly taken: Set<string>;
}

/**
 * Lets another process enqueue and listen until it kills itself, or until it has printed `lines`
 * lines.
 */
async function listenAndCrash(
  said: Said,
  [path, durability, round, messages]: [string, "full" | "relaxed", number, number],
  lines = Number.POSITIVE_INFINITY,
): Promise<void> {
  const child = spawn(
    process.execPath,
    [scriptOf("queue-until-killed.mjs"), path, durability, `${round}`, `${messages}`],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exit = once(child, "exit");
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, id] = line.split(" ");
    if (what === "enqueued" || what === "taken") said[what].add(id!);
    if (++count === lines) child.kill("SIGKILL");
  }
  const [code, signal] = (await exit) as [number | null, NodeJS.Signals | null];
  expect({ code, signal }).toEqual({ code: null, signal: "SIGKILL" });
}

/** Listens until all of these messages have been delivered. */
async function takeAll(kv: Kv, messages: Set<string>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const take = (value: unknown) => {
      messages.delete(value as string);
      if (messages.size === 0) resolve();
    };
    kv.listenQueue(take).catch(reject);
    if (messages.size === 0) resolve();
  });
}

// It waits for other processes, on whatever machine.
describe("a process that listens and is killed", () => {
  it("leaves every message that was enqueued and not taken to the next, with retries left", async () => {
    await withFolder(async (path) => {
      const said: Said = { enqueued: new Set(), taken: new Set() };
      for (let round = 0; round < 5; round++) {
        const durability = round % 2 === 0 ? "full" : "relaxed";
        const lines = 200 + Math.floor(Math.random() * 800);
        await listenAndCrash(said, [path, durability, round, 2048], lines);
      }
      const missing = new Set([...said.enqueued].filter((id) => !said.taken.has(id)));
      const kv = await openKv(path);
      try {
        await takeAll(kv, missing);
        expect(await kv.get(["undelivered"])).toMatchObject({ versionstamp: null });
      } finally {
        await kv.close();
      }
    });
  });

  it("by a message of the queue's is not killed by it for ever", async () => {
    await withFolder(async (path) => {
      const kv = await openKv(path);
      await kv.enqueue("deadly", { backoffSchedule: [1, 1], keysIfUndelivered: [["deadly"]] });
      await kv.close();
      const said: Said = { enqueued: new Set(), taken: new Set() };
      for (let death = 0; death < 3; death++) await listenAndCrash(said, [path, "full", 0, 0]);
      const again = await openKv(path);
      try {
        const handler = vi.fn();
        const listening = again.listenQueue(handler);
        const states = again.watch<[string]>([["deadly"]]).getReader();
        let state = await states.read();
        while (state.value?.[0].versionstamp === null) state = await states.read();
        expect(state.value?.[0].value).toBe("deadly");
        // It has been delivered three times already.
        expect(handler).not.toHaveBeenCalled();
        await again.close();
        await listening;
      } finally {
        await again.close();
      }
    });
  });
});

describe("a process that listens", () => {
  it("lives until the database is closed, and no longer", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      scriptOf("listen-and-close.mjs"),
    ]);
    expect(stdout).toBe("done\n");
  });
});
