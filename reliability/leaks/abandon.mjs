import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { lmdbEngine } from "@keywright/lmdb";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const users = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), team: z.string(), text: z.string() }),
  primaryKey: "id",
  count: true,
  indexes: { byTeam: { key: "team" } },
});
const rowCount = 50;
const keptRecords = 0x8000;
const text = "text ".repeat(100);

/** Databases in which calls are abandoned. */
export class AbandonedCalls {
  #folder;
  #databases;

  static async open() {
    const calls = new AbandonedCalls();
    calls.#folder = await mkdtemp(join(tmpdir(), "keywright-leaks-"));
    const lmdb = await lmdbEngine({ path: join(calls.#folder, "lmdb.mdb") });
    const kvs = [
      await openKv(),
      await openKv(calls.#path, { durability: "relaxed" }),
      await openKv(lmdb, { durability: "relaxed" }),
    ];
    calls.#databases = await Promise.all(
      kvs.map(async (kv) => ({ kv, db: await createDatabase({ kv, models: { users } }) })),
    );
    // A database keeps records of its last commits. From then on, a new one replaces an old one.
    for (let n = 0; n < keptRecords; n++) await kvs[0].set(["a"], n);
    for (const { db } of calls.#databases)
      await db.users.createMany({ data: Array.from({ length: rowCount }, (_, n) => rowOf(n)) });
    return calls;
  }

  async close() {
    for (const { kv } of this.#databases) await kv.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #path() {
    return join(this.#folder, "kv");
  }

  /** Abandons `count` calls of each kind in each database. */
  async abandon(count) {
    for (const database of this.#databases)
      for (let n = 0; n < count; n++) await abandonOne(database, n);
    await this.#openAndClose();
  }

  /** The size of the files of the database in a folder. */
  async bytesOnDisk() {
    let bytes = 0;
    for (const name of await readdir(this.#path)) {
      // LevelDB may delete a file meanwhile.
      const file = await stat(join(this.#path, name)).catch(() => ({ size: 0 }));
      bytes += file.size;
    }
    return bytes;
  }

  async #openAndClose() {
    const path = join(this.#folder, "opened");
    const opened = await Promise.all([openKv(path), openKv(path), openKv()]);
    const ended = opened[0].listenQueue(() => undefined);
    await opened[0].enqueue("message");
    opened[1].watch([["a"]]);
    for (const kv of opened) await kv.close();
    await ended;
    await ignored(openKv(this.#path, { compat: "deno" }));
    await ignored(openKv(join(this.#folder, "missing"), { createIfMissing: false }));
    await rm(path, { recursive: true });
  }
}

/** Begins calls, and neither ends nor keeps them. */
async function abandonOne({ kv, db }, n) {
  await kv.list({ prefix: [] }, { batchSize: 2 }).next();
  kv.list({ prefix: [] });
  kv.watch([["a"], ["users", "user 1"]]);
  kv.watchRange([{ prefix: ["users"] }]);
  const { value } = await kv
    .watch([["users", "user 1"]])
    .getReader()
    .read();
  if (value[0].versionstamp === null) throw new Error("a row is missing");
  await db.users
    .findMany({ where: { team: "a" }, take: 2 })
    [Symbol.asyncIterator]()
    .next();
  let late;
  const fails = new Error("the function fails");
  await ignored(
    db.snapshot(async (view) => {
      late = view.users.scan()[Symbol.asyncIterator]();
      await late.next();
      throw fails;
    }),
  );
  await ignored(late.next());
  const { signal } = new AbortController();
  await db.snapshot((view) => view.users.count(), { signal });
  const aborted = new AbortController();
  await ignored(
    db.snapshot(
      async (view) => {
        await view.users.count();
        aborted.abort();
        await view.users.scan();
      },
      { signal: aborted.signal },
    ),
  );
  const ended = db.users.scan({ signal: aborted.signal });
  await ignored(ended);
  for await (const { id } of db.users.scan()) if (id !== "") break;
  await ignored(
    db.users.findMany({
      where: { team: "a" },
      filter: () => {
        throw fails;
      },
    }),
  );
  db.users.watchMany({ where: { team: "a" } });
  await db.users
    .watch({ where: { id: "user 2" } })
    .getReader()
    .read();
  kv.atomic().set(["a"], n);
  await kv
    .atomic()
    .check({ key: ["a"], versionstamp: "0".repeat(20) })
    .set(["a"], n)
    .commit();
  const row = rowOf(n % rowCount);
  await db.users.update({ where: { id: row.id }, data: { team: n % 2 ? "a" : "b" } });
  await ignored(db.users.create({ data: row }));
  await ignored(kv.set(["a"], () => undefined));
  db.transaction(async (tx) => {
    await tx.users.findUnique({ where: { id: row.id } });
    await new Promise(() => undefined);
  });
  await ignored(
    db.transaction(async (tx) => {
      await tx.users.update({ where: { id: row.id }, data: { team: "c" } });
      throw new Error("the function fails");
    }),
  );
}

async function ignored(call) {
  const isRefused = await Promise.resolve(call).then(
    () => false,
    () => true,
  );
  if (!isRefused) throw new Error("a call that should fail did not");
}

function rowOf(n) {
  return { id: `user ${n}`, team: n % 2 ? "a" : "b", text };
}
