import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type EmbeddedKv, moveKv, openKv } from "../../src/index.js";
import { withFolder } from "../temporary-folder.js";

async function stateOf(kv: Pick<EmbeddedKv, "list">): Promise<Map<string, unknown>> {
  const state = new Map<string, unknown>();
  for await (const { key, value } of kv.list({ prefix: [] }))
    if (key[0] !== "__keywright") state.set(key.join(), value);
  return state;
}

const program = fileURLToPath(new URL("../move-until-killed.mjs", import.meta.url));

/** Moves in another process that writes too, and kills it. Returns what it was told. */
async function moveAndKill(folder: string, kill: number): Promise<string[]> {
  const child = fork(program, [`${folder}/old`, `${folder}/new`], { execArgv: [] });
  const said: string[] = [];
  child.on("message", (text) => said.push(String(text)));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const [phase, delay] = [phases[kill % phases.length]!, (kill * 7) % 30];
  child.on("message", (text) => {
    if (text === phase) setTimeout(() => child.kill("SIGKILL"), delay);
  });
  await ended;
  return said;
}

const phases = ["copying", "catching up", "comparing", "switching", "done"];

describe("a move whose process is killed", () => {
  it.each([0, 1, 2, 3, 4, 8, 12, 13, 18, 23])(
    "loses nothing, and is continued (%i)",
    async (kill) => {
      await withFolder(async (folder) => {
        const first = await openKv(`${folder}/old`, { log: {} });
        for (let n = 0; n < 20_000; n++) void first.set(["row", n], n);
        await first.set(["row", 20_000], 20_000);
        await first.close();
        const said = await moveAndKill(folder, kill);
        const source = await openKv(`${folder}/old`, { allowMoved: true });
        // Until it is continued, nobody can use a target that may be incomplete.
        const isUnfinished = await openKv(`${folder}/new`).then(
          async (kv) => {
            const isEmpty = (await stateOf(kv)).size === 0;
            await kv.close();
            return isEmpty;
          },
          (error: { code: string }) => error.code === "KW_MOVE_UNFINISHED",
        );
        if (isUnfinished) await moveKv(source, `${folder}/new`);
        await expect(source.set(["a"], 1)).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
        const expected = await stateOf(source);
        await source.close();
        const target = await openKv(`${folder}/new`);
        const state = await stateOf(target);
        expect(state).toEqual(expected);
        for (const text of said) {
          const [, key, n] = /^w(\d+) (\d+)$/.exec(text) ?? [];
          if (key !== undefined)
            expect(state.get(`write,${key}`)).toBeGreaterThanOrEqual(Number(n));
        }
        await target.close();
      });
    },
  );
});
