import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeKey, openKv, rescueDatabase } from "@keywright/core";
import { createDatabase, defineModel, UniqueConstraintError } from "@keywright/orm";
import * as z from "zod";

const users = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.string(), team: z.string(), text: z.string() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byTeam: { key: "team" } },
});
const sessions = 4;
const rowsOfSession = 425;
const rowCount = sessions * rowsOfSession;
const zeroedBytes = 4096;
const lateCommits = 40;
/** The minimum size of one of these commits in the log. */
const lateCommitBytes = 190;

/** The states in which a database is damaged. A closed one is rescued in the last. */
export const states = ["closed", "open", "killed", "rescued"];

/** A folder with a database that is copied, damaged and then compared with what it contained. */
export class DamagedDatabase {
  #parent;
  /** What the database contains: values by keys as text. */
  #content;
  /** The encoded keys. */
  #keys = new Map();

  static async create() {
    const database = new DamagedDatabase();
    await database.#fill();
    return database;
  }

  async remove() {
    await rm(this.#parent, { recursive: true, force: true });
  }

  get #original() {
    return join(this.#parent, "original");
  }

  /** Writes rows in several sessions, so that there are several tables. */
  async #fill() {
    this.#parent = await mkdtemp(join(tmpdir(), "keywright-damage-"));
    for (let session = 0; session < sessions; session++) {
      await withModels(this.#original, { durability: "relaxed" }, async (db) => {
        const data = Array.from({ length: rowsOfSession }, (_, i) =>
          rowOf(session * rowsOfSession + i, session),
        );
        await db.users.createMany({ data });
        await db.users.updateMany({
          where: { team: `team ${session - 1}` },
          data: { team: "moved" },
        });
      });
    }
    await withModels(this.#original, {}, async (_db, kv) => {
      for (let n = 0; n < lateCommits; n++) await kv.set(["late", n], rowOf(n, n));
      this.#content = await contentOf(kv, this.#keys);
    });
  }

  /**
   * Damages a copy of the database and compares what it then contains.
   *
   * @returns `"reported"` if the damage was, `"nothing"` if nothing is missing, or `"end of
   *   log"` if commits at the end of the log of a killed process are missing; and the problems.
   */
  async damage(state, random) {
    const folder = join(this.#parent, state);
    await this.#copyTo(folder);
    const problems = [];
    const outcome = await this.#damageCopy(folder, state, random, problems).catch((error) => {
      if (error.code !== "KW_CORRUPTION") problems.push(String(error.stack));
      return "reported";
    });
    return { outcome, problems };
  }

  async #damageCopy(folder, state, random, problems) {
    if (state === "open") return await this.#damageWhileOpen(folder, random, problems);
    if (state === "rescued") return await this.#rescue(folder, random, problems);
    if (state === "killed") await rm(join(folder, "keywright.closed"));
    const names = (await readdir(folder)).filter(
      (name) => state === "closed" || name.endsWith(".log"),
    );
    const { place, size } = await damageOne(folder, names, random);
    return await withModels(folder, {}, async (db, kv) => {
      const missing = await this.#compare(db, kv, place, random, problems);
      if (missing.length === 0) return "nothing";
      if (state === "closed") problems.push(`${place}: ${missing.length} entries are missing`);
      const end = Array.from(missing, (_, n) => `late,${lateCommits - 1 - n}`);
      if (missing.toSorted().join() !== end.toSorted().join())
        problems.push(`${place}: not only the end is missing: ${missing.join(" ")}`);
      if (missing.length > 1 + size / lateCommitBytes)
        problems.push(`${place}: ${missing.length} commits are missing`);
      return "end of log";
    });
  }

  async #damageWhileOpen(folder, random, problems) {
    return await withModels(folder, {}, async (db, kv) => {
      const tables = (await readdir(folder)).filter((name) => name.endsWith(".ldb"));
      const { place } = await damageOne(folder, tables, random);
      const { damages } = await kv.verifyFiles();
      if (damages.length === 0) {
        const missing = await this.#compare(db, kv, place, random, problems);
        if (missing.length > 0) problems.push(`${place}: ${missing.length} entries are missing`);
        return "nothing";
      }
      for (const call of [
        () => db.users.findMany({ where: { team: "moved" } }),
        () => db.users.create({ data: rowOf(rowCount, 0) }),
      ]) {
        const code = await call().then(
          () => "nothing",
          (error) => error.code,
        );
        if (code !== "KW_CORRUPTION") problems.push(`${place}: a call failed with ${code}`);
      }
      return "reported";
    });
  }

  /**
   * Entries outside the reported ranges must be there, and no row may have a value it never had.
   */
  async #rescue(folder, random, problems) {
    const names = (await readdir(folder)).filter((name) => !/^(LOCK|LOG.*)$/.test(name));
    const { place } = await damageOne(folder, names, random);
    const to = `${folder} to`;
    await rm(to, { recursive: true, force: true });
    const { damages } = await rescueDatabase(folder, { to });
    const kv = await openKv(to);
    try {
      const found = await contentOf(kv);
      for (const [key, value] of this.#content)
        if (found.get(key) !== value && !this.#mayDiffer(key, damages))
          problems.push(`${place}: ${key} is not as it was`);
      for (const [key, value] of found) {
        const earlier = value.replace('"moved"', `"team ${teamOf(key)}"`);
        const last = this.#content.get(key)?.replace('"moved"', `"team ${teamOf(key)}"`);
        const isRow = key.startsWith("users,") || key.startsWith("late,");
        if (isRow && earlier !== last) problems.push(`${place}: ${key} never had this value`);
      }
    } finally {
      await kv.close();
    }
    return damages.length > 0 ? "reported" : "nothing";
  }

  /** The log holds only the late commits. */
  #mayDiffer(text, damages) {
    const key = Buffer.from(this.#keys.get(text));
    return damages.some(({ file, firstKey = key, lastKey = key }) =>
      file.endsWith(".ldb")
        ? Buffer.compare(firstKey, key) <= 0 && Buffer.compare(key, lastKey) <= 0
        : file.endsWith(".log") && text.startsWith("late,"),
    );
  }

  /** Compares all entries, and uses some rows. Returns the keys of the missing entries. */
  async #compare(db, kv, place, random, problems) {
    const found = await contentOf(kv);
    for (const [key, value] of found)
      if (value !== this.#content.get(key)) problems.push(`${place}: ${key} has another value`);
    for (let n = 0; n < 5; n++) {
      const row = rowOf(random.below(rowCount), 0);
      const { id, email } = row;
      const byId = await db.users.findUnique({ where: { id } });
      const byEmail = await db.users.findUnique({ where: { email } });
      const where = { id, team: byId?.team ?? "none" };
      const ofTeam = await db.users.findFirst({ where });
      if (byId === null || byEmail?.id !== id || ofTeam === null)
        problems.push(`${place}: ${id} is not found`);
      for (const data of [row, { ...row, id: "new" }]) {
        const isRefused = await db.users.create({ data }).then(
          () => false,
          (error) => error instanceof UniqueConstraintError,
        );
        if (!isRefused) problems.push(`${place}: ${data.id} was created again`);
      }
    }
    return [...this.#content.keys()].filter((key) => !found.has(key));
  }

  async #copyTo(folder) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    for (const name of await readdir(this.#original))
      await copyFile(join(this.#original, name), join(folder, name));
  }
}

function rowOf(id, team) {
  const text = `${"same ".repeat(10)}${(id * 7919) ** 2}`;
  return { id: `user ${id}`, email: `${id}@example.com`, team: `team ${team}`, text };
}

/** The team with which a user was created. */
function teamOf(key) {
  return Math.floor(Number(/\d+$/.exec(key)?.[0]) / rowsOfSession);
}

async function withModels(path, options, body) {
  const kv = await openKv(path, options);
  try {
    return await body(await createDatabase({ kv, models: { users } }), kv);
  } finally {
    await kv.close();
  }
}

/** Damages a random place of one of the files, in place. Returns a description and the size. */
async function damageOne(folder, names, random) {
  const file = random.pick(names);
  const bytes = await readFile(join(folder, file));
  const bit = random.below(bytes.length * 8);
  const at = bit >> 3;
  const isZeroed = random.next() < 0.5;
  const size = isZeroed ? Math.min(zeroedBytes, bytes.length - at) : 1;
  if (isZeroed) bytes.fill(0, at, at + size);
  else if (bytes.length > 0) bytes[at] ^= 1 << (bit & 7);
  await writeFile(join(folder, file), bytes, { flag: "r+" });
  const what = isZeroed ? `${size} bytes of zeros` : "a flipped bit";
  return { place: `${what} at bit ${bit} of ${file}`, size };
}

/**
 * Returns the values of all entries, as JSON, by their keys. Each is listed and read by its key.
 */
async function contentOf(kv, keys) {
  const found = new Map();
  for await (const { key, value } of kv.list({ prefix: [] }, { batchSize: 500 })) {
    const json = JSON.stringify(value, (_name, part) =>
      typeof part === "bigint" ? `${part}` : part,
    );
    const isRead = (await kv.get(key)).versionstamp !== null;
    if (isRead) found.set(key.join(), json);
    keys?.set(key.join(), encodeKey(key));
  }
  return found;
}
