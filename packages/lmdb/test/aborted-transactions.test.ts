import { KvU64, openKv } from "@keywright/core";
import { afterEach, expect, it, vi } from "vitest";
import { lmdbEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

/** The codes with which LMDB fails in the next transactions. */
let failures: number[] = [];

vi.mock("../src/commit/write-commit.js", async (importOriginal) => {
  const { writeCommit } = await importOriginal<typeof import("../src/commit/write-commit.js")>();
  return {
    writeCommit: async (...transaction: Parameters<typeof writeCommit>) => {
      const code = failures.shift();
      if (code !== undefined) throw Object.assign(new Error("LMDB failed"), { code });
      return await writeCommit(...transaction);
    },
  };
});

const badTransaction = -30782;
const mapFull = -30792;

afterEach(() => {
  failures = [];
});

it("a commit is made again, once, if LMDB has aborted its transaction", async () => {
  const { path, remove } = await temporaryFile();
  try {
    await using kv = await openKv(await lmdbEngine({ path }));
    failures = [badTransaction, badTransaction];
    await kv.atomic().sum(["n"], 1n).commit();
    expect(failures).toEqual([]);
    expect((await kv.get(["n"])).value).toEqual(new KvU64(1n));
  } finally {
    await remove();
  }
});

it.each([
  ["LMDB aborts again and again", Array.from({ length: 20 }, () => badTransaction)],
  ["LMDB fails in another way", [mapFull]],
])("a commit fails if %s", async (_, codes) => {
  const { path, remove } = await temporaryFile();
  try {
    await using kv = await openKv(await lmdbEngine({ path }));
    failures = codes;
    await expect(kv.set(["n"], 1)).rejects.toMatchObject({ code: "KW_ENGINE_FAILED" });
  } finally {
    await remove();
  }
});
