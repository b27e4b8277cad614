import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import {
  appendFile,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { crc32 } from "../src/bytes/crc32.js";
import {
  readClosedMark,
  readCurrent,
  writeClosedMark,
} from "../src/engine/level/files/closed-mark.js";
import { FileChecker } from "../src/engine/level/files/file-checker.js";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import type { CorruptionError } from "../src/errors/core-errors.js";
import { type EmbeddedKv, type OpenKvOptions, openKv, verifyFiles } from "../src/index.js";
import { filesOf, openLevel, stateLaterSequence } from "./level-folder.js";
import { runCode } from "./run-in-process.js";
import { withFolder } from "./temporary-folder.js";

const rows = 600;

/** Creates a database with a table and, after it, a log with a few commits. */
async function createDatabase(folder: string): Promise<void> {
  const kv = await openKv(folder);
  for (let n = 0; n < rows; n += 100) {
    const atomic = kv.atomic();
    for (let i = n; i < n + 100; i++) atomic.set(["row", i], { n: i, text: `text ${i * i}` });
    await atomic.commit();
  }
  await kv.close();
  await compact(folder);
  const again = await openKv(folder, { durability: "relaxed" });
  for (let n = 0; n < 5; n++) await again.set(["late", n], "x".repeat(50));
  await again.close();
}

async function compact(folder: string): Promise<void> {
  const level = openLevel(folder);
  await level.open();
  await level.compactRange(Uint8Array.of(0), Uint8Array.of(0xff));
  await level.close();
}

async function copyFolder(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to);
  for (const name of await readdir(from)) await copyFile(join(from, name), join(to, name));
}

/** Runs a body with a database that has been closed, whose files it may damage. */
async function withDatabase(body: (folder: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    await createDatabase(folder);
    await body(folder);
  });
}

async function tableOf(folder: string): Promise<string> {
  const [[name] = []] = await filesOf(folder, ".ldb");
  return name!;
}

/** Overwrites bytes in the middle of a file, in place: LevelDB may have mapped the file. */
async function damage(folder: string, name: string, offset?: number): Promise<void> {
  const bytes = await readFile(join(folder, name));
  const at = offset ?? bytes.length >> 1;
  bytes[at]! ^= 0x10;
  await writeFile(join(folder, name), bytes, { flag: "r+" });
}

const corruption = { code: "KW_CORRUPTION" };

describe("a database on disk", () => {
  it("opens if its files are intact, and reads all", async () => {
    await withDatabase(async (folder) => {
      expect(await verifyFiles(folder)).toMatchObject({ files: 1, damages: [] });
      await using kv = await openKv(folder);
      expect(await count(kv)).toBe(rows + 5);
      expect(await kv.verifyFiles()).toMatchObject({ damages: [] });
    });
  });

  it("is refused if a table has a flipped bit, and the error names the file and its keys", async () => {
    await withDatabase(async (folder) => {
      const file = await tableOf(folder);
      await damage(folder, file);
      const error = (await openKv(folder).catch((reason: unknown) => reason)) as CorruptionError;
      expect(error).toMatchObject({ ...corruption, file, path: folder });
      expect(error.firstKey).toBeInstanceOf(Uint8Array);
      expect(error.lastKey).toBeInstanceOf(Uint8Array);
      expect(error.message).toContain(`its file ${file}, from byte `);
      const { damages } = await verifyFiles(folder);
      expect(damages).toMatchObject([{ file, firstKey: error.firstKey, lastKey: error.lastKey }]);
    });
  });

  it("can be read without the checks, as far as it is intact", async () => {
    await withDatabase(async (folder) => {
      await damage(folder, await tableOf(folder));
      await using kv = await openKv(folder, { checkFiles: false });
      expect((await kv.get(["late", 1])).value).toBeDefined();
      expect(await kv.verifyFiles()).toBeUndefined();
    });
  });

  it("is noticed by a read of large values, wherever it stops", async () => {
    await withFolder(async (folder) => {
      const kv = await openKv(folder);
      const values = Array.from({ length: 40 }, () => new Uint8Array(randomBytes(62_000)));
      for (const [n, value] of values.entries()) await kv.set(["row", n], value);
      await kv.close();
      await compact(folder);
      for (const [name, content] of await filesOf(folder, ".ldb")) {
        const at = Buffer.from(content).indexOf(values[5]!.subarray(100, 200));
        // The end of the block of a value and its checksum.
        const end = at - 100 + 62_000;
        if (at < 0) continue;
        await writeFile(join(folder, name), content.fill(0xff, end + 2, end + 13), { flag: "r+" });
      }
      await using damaged = await openKv(folder, { checkFiles: false });
      for (let limit = 6; limit <= 36; limit++) {
        const list = damaged.list({ prefix: ["row"] }, { limit, batchSize: limit });
        await expect(list.nextBatch!(), `limit ${limit}`).rejects.toMatchObject({
          code: "KW_CORRUPTION",
        });
      }
    });
  });

  it("is noticed by a read that stops after the damage, at its limit", async () => {
    await withDatabase(async (folder) => {
      const table = join(folder, await tableOf(folder));
      const bytes = await readFile(table);
      const middle = bytes.length >> 1;
      await writeFile(table, bytes.fill(0xff, middle, middle + 500), { flag: "r+" });
      const kv = await openKv(folder, { checkFiles: false });
      try {
        const read = async (options: { limit: number; reverse?: boolean }) => {
          const list = kv.list({ prefix: ["row"] }, { ...options, batchSize: options.limit });
          return (await list.nextBatch!()).length;
        };
        // The rows before the damage are read, up to the last one.
        const isLost = (n: number) =>
          kv.get(["row", n]).then(
            ({ value }) => value === null,
            () => true,
          );
        let intact = 0;
        while (!(await isLost(intact))) intact++;
        expect(intact).toBeGreaterThan(50);
        expect(await read({ limit: intact })).toBe(intact);
        const corruption = { code: "KW_CORRUPTION" };
        await expect(read({ limit: intact + 1 })).rejects.toMatchObject(corruption);
        await expect(read({ limit: 500 })).rejects.toMatchObject(corruption);
        expect(await read({ limit: 50, reverse: true })).toBe(50);
        const backwards = read({ limit: 500, reverse: true });
        await expect(backwards).rejects.toMatchObject(corruption);
      } finally {
        await kv.close();
      }
    });
  });

  it.each([
    ["truncated", (path: string) => truncate(path, 1000)],
    ["empty", (path: string) => truncate(path, 0)],
    ["missing", (path: string) => rm(path)],
  ])("is refused if a table is %s", async (_name, change) => {
    await withDatabase(async (folder) => {
      const file = await tableOf(folder);
      await change(join(folder, file));
      await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file });
      await expect(readAll(folder, { checkFiles: false })).rejects.toMatchObject(corruption);
    });
  });

  it("is refused if CURRENT has a flipped bit or names no manifest", async () => {
    for (const content of ["MANIFEST-000099\n", "NANIFEST-000004\n", "MANIFEST-000004", "", "\n"]) {
      await withDatabase(async (folder) => {
        await writeFile(join(folder, "CURRENT"), content);
        await expect(openKv(folder)).rejects.toMatchObject(corruption);
      });
    }
  });

  it("is refused for each flipped bit of its manifest", async () => {
    await withFolder(async (parent) => {
      const original = join(parent, "original");
      await createDatabase(original);
      const [[file, bytes] = []] = await filesOf(original, "MANIFEST");
      const folder = join(parent, "damaged");
      for (let bit = 3; bit < bytes!.length * 8; bit += 11) {
        await copyFolder(original, folder);
        const damaged = Uint8Array.from(bytes!);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        await writeFile(join(folder, file!), damaged);
        await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file });
      }
      await copyFolder(original, folder);
      await writeFile(join(folder, file!), bytes!.fill(0, bytes!.length - 60));
      await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file });
    });
  });

  it("is refused if its log is damaged, cut off or missing after it was closed", async () => {
    await withFolder(async (parent) => {
      const original = join(parent, "original");
      await createDatabase(original);
      const [[file, bytes] = []] = await filesOf(original, ".log");
      const folder = join(parent, "damaged");
      for (let bit = 0; bit < bytes!.length * 8; bit += 97) {
        await copyFolder(original, folder);
        await damage(folder, file!, bit >> 3);
        await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file });
      }
      for (const length of [0, 100, bytes!.length - 1]) {
        await copyFolder(original, folder);
        await truncate(join(folder, file!), length);
        await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file });
      }
      await copyFolder(original, folder);
      await rm(join(folder, file!));
      await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file });
    });
  });

  it("opens with an incomplete record at the end of its log if it was not closed", async () => {
    await withDatabase(async (folder) => {
      await rm(join(folder, "keywright.closed"));
      const [[file, bytes] = []] = await filesOf(folder, ".log");
      await truncate(join(folder, file!), bytes!.length - 10);
      await using kv = await openKv(folder);
      expect(await count(kv)).toBe(rows + 4);
    });
  });

  it("is refused without the note of its close if intact commits follow a damaged one", async () => {
    await withDatabase(async (folder) => {
      await rm(join(folder, "keywright.closed"));
      const [[file, bytes] = []] = await filesOf(folder, ".log");
      await damage(folder, file!, Math.floor(bytes!.length * 0.7));
      await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file });
    });
  });

  it("is refused also if tables were merged after the damaged commits", async () => {
    await withDatabase(async (folder) => {
      await rm(join(folder, "keywright.closed"));
      await stateLaterSequence(folder);
      const [[file, bytes] = []] = await filesOf(folder, ".log");
      for (const part of [0, 0.7]) {
        await damage(folder, file!, Math.floor(bytes!.length * part));
        await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file });
        await writeFile(join(folder, file!), bytes!);
      }
    });
  });

  it("is refused if CURRENT names a manifest with an endless number", async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, "CURRENT"), `MANIFEST-${"4".repeat(300)}\n`);
      await expect(openKv(folder)).rejects.toMatchObject({ ...corruption, file: "CURRENT" });
    });
  });

  it("ignores a damaged note of its close", async () => {
    await withDatabase(async (folder) => {
      await damage(folder, "keywright.closed");
      await using kv = await openKv(folder);
      expect(await count(kv)).toBe(rows + 5);
    });
  });
});

describe("the note that a database was closed", () => {
  const note = "keywright.closed";

  it("states only intact records of a log that ends with a failed write", async () => {
    await withDatabase(async (folder) => {
      const [[log] = []] = await filesOf(folder, ".log");
      await appendFile(join(folder, log!), Uint8Array.of(1, 2, 3, 4, 200, 0, 1, 9, 9));
      await writeClosedMark(folder, await readCurrent(folder));
      await using kv = await openKv(folder);
      expect(await count(kv)).toBe(rows + 5);
    });
  });

  it("is ignored if it is malformed, though its checksum matches", async () => {
    await withFolder(async (folder) => {
      for (const text of ["null", "7", "[null]", "[[1,2]]", '[["000003.log"]]']) {
        const checksum = crc32(Buffer.from(text)).toString(16).padStart(8, "0");
        await writeFile(join(folder, note), `${checksum} ${text}\n`);
        expect(await readClosedMark(folder)).toBe(undefined);
      }
      const text = '[["MANIFEST-000002",50]]';
      await writeFile(join(folder, note), `${crc32(Buffer.from(text)).toString(16)} ${text}\n`);
      expect(await readClosedMark(folder)).toEqual([["MANIFEST-000002", 50]]);
    });
  });

  it("is not written if another process has opened the database since", async () => {
    await withDatabase(async (folder) => {
      const before = await readFile(join(folder, note), "utf8");
      const current = await readCurrent(folder);
      const earlier = "MANIFEST-000001\n";
      await copyFile(join(folder, current.trim()), join(folder, earlier.trim()));
      await writeClosedMark(folder, earlier);
      expect(await readFile(join(folder, note), "utf8")).toBe(before);
    });
  });

  it("is not written after a failed commit", async () => {
    await withFolder(async (folder) => {
      const level = openLevel(folder);
      await level.open();
      const files = new FileChecker(folder, {});
      const engine = await LevelEngine.open(level as unknown as LevelDatabase, { files });
      Object.assign(level, {
        batch: () => {
          const write = () => Promise.reject(new Error("no space"));
          return { put: () => undefined, write, close: () => Promise.resolve() };
        },
      });
      await expect(engine.commit([{ checks: [], mutations: [], sync: true }])).rejects.toThrow(
        "no space",
      );
      await engine.close();
      expect(await readdir(folder)).not.toContain(note);
    });
  });
});

describe("an open database", () => {
  it("fails with an error that has a code if verifyFiles cannot read a file", async () => {
    await withDatabase(async (folder) => {
      await using kv = await openKv(folder);
      // A folder cannot be read as a file.
      await rename(join(folder, "CURRENT"), join(folder, "CURRENT.kept"));
      await mkdir(join(folder, "CURRENT"));
      for (const verify of [() => kv.verifyFiles(), () => verifyFiles(folder)])
        await expect(verify()).rejects.toMatchObject({
          code: "KW_ENGINE_FAILED",
          operation: "read",
        });
      expect(await count(kv)).toBe(rows + 5);
    });
  });

  it("fails every call after verifyFiles has found damage", async () => {
    await withDatabase(async (folder) => {
      await using kv = await openKv(folder);
      const file = await tableOf(folder);
      await damage(folder, file);
      const progress: unknown[] = [];
      const report = await kv.verifyFiles({ onProgress: (each) => progress.push(each) });
      expect(report?.damages).toMatchObject([{ file }]);
      expect(progress.at(-1)).toMatchObject({
        phase: "checking",
        done: report?.bytes,
        total: report?.bytes,
      });
      await expectAllToFail(kv, file);
    });
  });

  it("finds new damage in the background", async () => {
    await withDatabase(async (folder) => {
      let onCheck: () => void = () => undefined;
      const nextCheck = () =>
        new Promise<void>((resolve) => {
          onCheck = resolve;
        });
      const first = nextCheck();
      await using kv = await openKv(folder, {
        checkFiles: { repeatAfter: 20, onProgress: () => onCheck() },
      });
      await first;
      expect(await count(kv)).toBe(rows + 5);
      const file = await tableOf(folder);
      await damage(folder, file);
      // The check in progress may have read the file before.
      for (let checks = 0; checks < 2; checks++) await nextCheck();
      while ((await kv.get(["late", 0]).catch(() => undefined)) !== undefined) await nextCheck();
      await expectAllToFail(kv, file);
    });
  });

  it("is checked in the background without keeping the process alive", async () => {
    await withDatabase(async (folder) => {
      const output = await runCode(`
        let kv;
        await new Promise((resolve) => {
          const alive = setInterval(() => undefined, 1000);
          const onProgress = ({ done, total }) => {
            console.log("checked", done > 0 && done <= total);
            clearInterval(alive);
            resolve();
          };
          const checkFiles = { repeatAfter: 20, bytesPerSecond: 20_000, onProgress };
          openKv(${JSON.stringify(folder)}, { checkFiles }).then((opened) => {
            kv = opened;
          });
        });
        console.log((await kv.verifyFiles()).damages.length);
      `);
      expect(output).toMatch(/^(checked true\n)+0\n/);
    });
  });

  it("finds in the background that a table is missing", async () => {
    await withDatabase(async (folder) => {
      await using kv = await openKv(folder, { checkFiles: { repeatAfter: 20 } });
      const file = await tableOf(folder);
      await rm(join(folder, file));
      await expect
        .poll(() => kv.get(["late", 0]).catch((error: unknown) => error))
        .toMatchObject({ ...corruption, file });
    });
  });
});

describe("openKv", () => {
  it.skipIf(!existsSync("/dev/full"))("says that the disk is full", async () => {
    await withDatabase(async (folder) => {
      // LevelDB writes one of them.
      for (let n = 10; n < 100; n++)
        await symlink("/dev/full", join(folder, `MANIFEST-0000${n}`)).catch(() => undefined);
      const error = (await openKv(folder).catch((reason: unknown) => reason)) as Error;
      expect(error).toMatchObject({ code: "KW_ENGINE_FAILED", operation: "open", path: folder });
      expect(error.message).toContain("No space left on device");
    });
  });

  it.each([
    ["checkFiles", { checkFiles: "no" }],
    ["checkFiles", { checkFiles: null }],
    ["checkFiles.repeatAfter", { checkFiles: { repeatAfter: 0 } }],
    ["checkFiles.bytesPerSecond", { checkFiles: { bytesPerSecond: "fast" } }],
    ["checkFiles.onProgress", { checkFiles: { onProgress: 1 } }],
    ["checkFiles.interval", { checkFiles: { interval: 1 } }],
  ])("refuses a wrong %s", async (option, options) => {
    await expect(openKv(":memory:", options as OpenKvOptions)).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option,
    });
  });
});

async function expectAllToFail(kv: EmbeddedKv, file: string): Promise<void> {
  const refused = expect.objectContaining({ ...corruption, file });
  const calls = [
    () => kv.get(["row", 1]),
    () => kv.getMany([["row", 1]]),
    () => count(kv),
    () => kv.set(["row", 1], 1),
    () => kv.delete(["row", 1]),
    () => kv.enqueue(1),
    () =>
      kv
        .watch([["row", 1]])
        .getReader()
        .read(),
  ];
  for (const call of calls) await expect(call()).rejects.toEqual(refused);
}

async function count(kv: EmbeddedKv): Promise<number> {
  let entries = 0;
  for await (const _entry of kv.list({ prefix: [] })) entries++;
  return entries;
}

async function readAll(folder: string, options: OpenKvOptions): Promise<number> {
  await using kv = await openKv(folder, options);
  for (let n = 0; n < rows; n++) await kv.get(["row", n]);
  return await count(kv);
}
