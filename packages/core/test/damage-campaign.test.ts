import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareBytes } from "../src/bytes/compare-bytes.js";
import { CorruptionError } from "../src/errors/core-errors.js";
import { type EmbeddedKv, encodeKey, openKv, rescueDatabase } from "../src/index.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

/** Set it to a larger number for a longer run. */
const trials = Number(process.env["KEYWRIGHT_DAMAGES"] ?? 24);
const zeroedBytes = 4096;
const lateCommits = 40;

type Damage = "a flipped bit" | "4 KB of zeros";

let parent: string;
let original: string;
/** What the database contains, by keys as text. */
let content: Map<string, unknown>;
/** All values that were ever written, as text, by keys as text. */
const written = new Map<string, Set<string>>();

beforeAll(async () => {
  parent = await makeFolder();
  original = join(parent, "original");
  for (let session = 0; session < 4; session++) {
    await using kv = await openKv(original, { durability: "relaxed" });
    for (let n = 0; n < 5; n++) {
      const atomic = kv.atomic();
      for (let i = 0; i < 100; i++)
        atomic.set(...noted(["row", (session * 500 + n * 100 + i * 7) % 1700], rowOf(session, i)));
      await atomic.commit();
    }
    for (let n = 0; n < 20; n++) await kv.delete(["row", session * 300 + n * 5]);
  }
  await using kv = await openKv(original);
  for (let n = 0; n < lateCommits; n++) await kv.set(...noted(["late", n], rowOf(n, n)));
  content = await contentOf(kv);
});

afterAll(async () => {
  await removeFolder(parent);
});

const timeout = 60_000 + trials * 1000;

describe.each<Damage>(["a flipped bit", "4 KB of zeros"])("%s in any file", { timeout }, (kind) => {
  it("hides nothing if it happens while the database is closed", async () => {
    const folder = join(parent, "closed");
    let refused = 0;
    for (let trial = 0; trial < trials; trial++) {
      await copyOriginal(folder);
      const damage = await damageOne(folder, kind, await readdir(folder));
      try {
        await using kv = await openKv(folder);
        expect(await contentOf(kv), damage).toEqual(content);
      } catch (error) {
        if (!(error instanceof CorruptionError)) throw error;
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(0);
  });

  it("hides nothing after a check if it happens while the database is open", async () => {
    const folder = join(parent, "open");
    let refused = 0;
    for (let trial = 0; trial < trials / 2; trial++) {
      await copyOriginal(folder);
      await using kv = await openKv(folder);
      const tables = (await readdir(folder)).filter((name) => name.endsWith(".ldb"));
      const damage = await damageOne(folder, kind, tables);
      const { damages } = (await kv.verifyFiles())!;
      if (damages.length === 0) expect(await contentOf(kv), damage).toEqual(content);
      else {
        refused++;
        await expect(contentOf(kv)).rejects.toThrow(CorruptionError);
        await expect(kv.set(["row", 0], 1)).rejects.toThrow(CorruptionError);
      }
    }
    expect(refused).toBeGreaterThan(0);
  });

  it("hides only the last commits if the database was not closed, and only in its log", async () => {
    const folder = join(parent, "killed");
    for (let trial = 0; trial < trials / 2; trial++) {
      await copyOriginal(folder);
      await rm(join(folder, "keywright.closed"));
      const logs = (await readdir(folder)).filter((name) => name.endsWith(".log"));
      const damage = await damageOne(folder, kind, logs);
      try {
        await using kv = await openKv(folder);
        const found = await contentOf(kv);
        const lost = [...content.keys()].filter((key) => !found.has(key));
        const last = Array.from({ length: lost.length }, (_, n) => `late,${lateCommits - 1 - n}`);
        expect(lost.sort(), damage).toEqual(last.sort());
        if (kind === "a flipped bit") expect(lost.length, damage).toBeLessThanOrEqual(1);
        for (const [key, value] of found) expect(value, damage).toEqual(content.get(key));
      } catch (error) {
        if (!(error instanceof CorruptionError)) throw error;
      }
    }
  });
});

describe.each<Damage>(["a flipped bit", "4 KB of zeros"])("after %s", { timeout }, (kind) => {
  it("a rescue loses only entries that it reports, and invents none", async () => {
    const folder = join(parent, "rescued");
    const to = join(parent, "rescue");
    for (let trial = 0; trial < trials / 8; trial++) {
      await copyOriginal(folder);
      const names = (await readdir(folder)).filter((name) => !/^(LOCK|LOG.*)$/.test(name));
      const damage = await damageOne(folder, kind, names);
      await rm(to, { recursive: true, force: true });
      const { damages, entries } = await rescueDatabase(folder, { to });
      // The log holds only the late commits, and no table is left from before a manifest.
      const mayDiffer = (key: string) =>
        damages.some(({ file, firstKey, lastKey }) =>
          file.endsWith(".ldb")
            ? isBetween(encodedKey(key), firstKey, lastKey)
            : file.endsWith(".log") && key.startsWith("late"),
        );
      await using kv = await openKv(to);
      const found = await contentOf(kv);
      expect(entries).toBe(found.size);
      expect(entries, damage).toBeGreaterThan(content.size / 2);
      for (const [key, value] of content)
        if (!mayDiffer(key)) expect(found.get(key), damage).toEqual(value);
      for (const [key, value] of found) {
        expect(written.get(key)?.has(JSON.stringify(value)), damage).toBe(true);
        if (!mayDiffer(key)) expect(value, damage).toEqual(content.get(key));
      }
    }
  });
});

function isBetween(key: Uint8Array, first = key, last = key): boolean {
  return compareBytes(first, key) <= 0 && compareBytes(key, last) <= 0;
}

function encodedKey(text: string): Uint8Array {
  const [name, number] = text.split(",");
  return encodeKey([name!, Number(number)]);
}

function noted(key: [string, number], value: unknown): [[string, number], unknown] {
  const text = key.join();
  const values = written.get(text) ?? new Set();
  written.set(text, values.add(JSON.stringify(value)));
  return [key, value];
}

function rowOf(a: number, b: number): unknown {
  return { a, b, text: `${"same ".repeat(10)}${(a * 7919 + b * 104_729) ** 2}` };
}

async function copyOriginal(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const name of await readdir(original)) {
    await copyFile(join(original, name), join(folder, name));
  }
}

/** Damages a random place of one of the files, in place, and returns a description of it. */
async function damageOne(folder: string, kind: Damage, names: readonly string[]): Promise<string> {
  const file = names[Math.floor(Math.random() * names.length)]!;
  const bytes = await readFile(join(folder, file));
  const bit = Math.floor(Math.random() * bytes.length * 8);
  const at = bit >> 3;
  if (kind === "4 KB of zeros") bytes.fill(0, at, Math.min(at + zeroedBytes, bytes.length));
  else if (bytes.length > 0) bytes[at]! ^= 1 << (bit & 7);
  await writeFile(join(folder, file), bytes, { flag: "r+" });
  return `${kind} at bit ${bit} of ${file}`;
}

async function contentOf(kv: EmbeddedKv): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for await (const { key, value } of kv.list({ prefix: [] })) {
    expect((await kv.get(key)).value).toEqual(value);
    found.set(key.join(), value);
  }
  return found;
}
