import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Kv } from "../src/kv/kv.js";
import { openKv } from "../src/kv/open-kv.js";
import { withFolder } from "./temporary-folder.js";

const script = fileURLToPath(new URL("commit-until-killed.mjs", import.meta.url));

/** Lets another process commit, kills it when so many commits were acknowledged, and answers these by their number. */
async function commitAndCrash(
  path: string,
  durability: "full" | "relaxed",
  round: number,
  acknowledgements: number,
): Promise<Map<string, string>> {
  const child = spawn(process.execPath, [script, path, durability, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const acknowledged = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const [id, versionstamp] = line.split(" ");
    // The last line may be half there.
    if (versionstamp?.length === 20) acknowledged.set(id!, versionstamp);
    if (acknowledged.size === acknowledgements) child.kill("SIGKILL");
  }
  const [code, signal] = (await exit) as [number | null, NodeJS.Signals | null];
  expect({ code, signal }).toEqual({ code: null, signal: "SIGKILL" });
  return acknowledged;
}

/** The versionstamps of all entries under a prefix, by their number. */
async function versionstamps(kv: Kv, prefix: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { key, value, versionstamp } of kv.list<{ id: string }>({ prefix: [prefix] })) {
    expect(value.id).toBe(key[1]);
    found.set(value.id, versionstamp);
  }
  return found;
}

// It waits for other processes, on whatever machine.
describe("a process that is killed while it commits", { timeout: 120_000 }, () => {
  it("leaves every acknowledged commit whole, and none by half", async () => {
    await withFolder(async (path) => {
      const acknowledged = new Map<string, string>();
      let lastVersionstamp = "";
      for (let round = 0; round < 5; round++) {
        const durability = round % 2 === 0 ? "full" : "relaxed";
        const count = 1 + Math.floor(Math.random() * 1500);
        const ofRound = await commitAndCrash(path, durability, round, count);
        expect(ofRound.size).toBeGreaterThanOrEqual(count);
        for (const [id, versionstamp] of ofRound) {
          expect(versionstamp > lastVersionstamp).toBe(true);
          acknowledged.set(id, versionstamp);
        }
        const kv = await openKv(path);
        try {
          const left = await versionstamps(kv, "left");
          expect(await versionstamps(kv, "right")).toEqual(left);
          const lost = [...acknowledged].filter(
            ([id, versionstamp]) => left.get(id) !== versionstamp,
          );
          expect(lost).toEqual([]);
          const { versionstamp } = await kv.set(["after round", round], round);
          expect([...left.values()].every((each) => each < versionstamp)).toBe(true);
          lastVersionstamp = versionstamp;
        } finally {
          await kv.close();
        }
      }
    });
  });
});
