import { join } from "node:path";
import { MemoryLevel } from "memory-level";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { OwnedFiles } from "../src/engine/files/owned-files.js";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(async () => {
  await removeFolder(folder);
});

/** Returns `openKv` of a copy of the package, which knows nothing of what other copies have open. */
async function copyOfOpenKv() {
  vi.resetModules();
  return (await import("../src/kv/open-kv.js")).openKv;
}

/** @param onOpen is awaited before the file is open. */
function files(onOpen: () => Promise<void>): OwnedFiles {
  const openFile = async () => {
    await onOpen();
    const level = new MemoryLevel<Uint8Array, Uint8Array>({ storeEncoding: "view" });
    return await LevelEngine.open(level as unknown as LevelDatabase);
  };
  return {
    path: join(folder, "data"),
    createIfMissing: true,
    assertFile: async () => undefined,
    openFile,
    openUnlocked: openFile,
  };
}

const onPosix = it.skipIf(process.platform === "win32");

onPosix("a database that is closed while it takes over is owned by nobody afterwards", async () => {
  const owner = await (await copyOfOpenKv())(files(async () => undefined));
  let open: () => void = () => undefined;
  const isOpened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let begin: () => void = () => undefined;
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const openKv = await copyOfOpenKv();
  const attached = await openKv(
    files(async () => {
      begin();
      await isOpened;
    }),
  );
  expect(attached.attached).toEqual({ pid: process.pid });
  await owner.close();
  const read = attached.get(["a"]).catch((error: unknown) => error);
  await hasBegun;
  const closing = attached.close();
  expect(await read).toMatchObject({ code: "KW_DATABASE_CLOSED" });
  open();
  await closing;
  const next = await openKv(
    files(async () => undefined),
    { attach: false },
  );
  await next.close();
});
