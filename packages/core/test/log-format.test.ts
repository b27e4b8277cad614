import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { type Engine, openKv } from "../src/index.js";
import { setLog } from "../src/kv/backup/kept-log.js";
import { engineOf } from "./engine-of.js";
import { openLevel } from "./level-folder.js";
import { withFolder } from "./temporary-folder.js";

/** The check of the releases that do not know the log, by their format 1. */
function openAsEarlierRelease(header: Uint8Array): void {
  const text = Buffer.from(header).toString("latin1");
  if (!text.startsWith("keywright")) throw new Error("its header is not Keywright's");
  if (header[9] !== 0x01) throw new Error(`it has the unknown format ${header[9]}`);
}

async function headerOfFolder(folder: string): Promise<Uint8Array> {
  const level = openLevel(folder);
  const header = await level.get(Uint8Array.of(0x00, 0x01));
  await level.close();
  return header!;
}

async function headerOfEngine(engine: Engine): Promise<Uint8Array> {
  return (await engine.get(Uint8Array.of(0x00, 0x05)))!.value;
}

describe("a program of a release that does not know the log", () => {
  it("cannot open a LevelDB folder while it keeps a log", async () => {
    await withFolder(async (folder) => {
      await (await openKv(folder)).close();
      expect(() => openAsEarlierRelease(Buffer.alloc(0))).toThrow();
      openAsEarlierRelease(await headerOfFolder(folder));
      const kv = await openKv(folder, { log: {} });
      await kv.set(["a"], 1);
      await kv.close();
      const header = await headerOfFolder(folder);
      expect(() => openAsEarlierRelease(header)).toThrow("unknown format 2");
      const logged = await openKv(folder);
      expect((await logged.get(["a"])).value).toBe(1);
      await setLog(logged, false);
      await logged.close();
      openAsEarlierRelease(await headerOfFolder(folder));
    });
  });

  it("cannot open a LevelDB folder whose header was raised in compat mode", async () => {
    await withFolder(async (folder) => {
      await (await openKv(folder, { compat: "deno", log: {} })).close();
      const header = await headerOfFolder(folder);
      expect(() => openAsEarlierRelease(header)).toThrow("unknown format 2");
      await (await openKv(folder, { compat: "deno" })).close();
      await expect(openKv(folder)).rejects.toMatchObject({ code: "KW_DATABASE_MODE" });
    });
  });

  it.each([false, true])(
    "cannot open an engine that keeps a log, if isShared is %s",
    async (isShared) => {
      const engine = await engineOf({ isShared });
      const kv = await openKv(engine);
      openAsEarlierRelease(await headerOfEngine(engine));
      await setLog(kv, {});
      const header = await headerOfEngine(engine);
      expect(() => openAsEarlierRelease(header)).toThrow("unknown format 2");
      await setLog(kv, false);
      openAsEarlierRelease(await headerOfEngine(engine));
      await kv.close();
    },
  );

  it("can open a database whose log could not be turned on", async () => {
    const engine = await engineOf();
    const kv = await openKv(engine);
    const { commit } = engine;
    engine.commit = async (writes) =>
      await Promise.resolve(writes.map(() => new Error("no space")));
    await expect(setLog(kv, {})).rejects.toThrow("no space");
    engine.commit = commit;
    openAsEarlierRelease(await headerOfEngine(engine));
    await kv.close();
  });
});
