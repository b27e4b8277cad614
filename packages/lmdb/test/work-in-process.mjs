// A process of `processes.test.ts`. It does one kind of work on a database that others have open.
import { openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import * as z from "zod";
import { lmdbEngine } from "../dist/index.js";

const [path, work, name] = process.argv.slice(2);
const open = async () => await openKv(await lmdbEngine({ path }));
let kv = await open();

/**
 * Each client counts in one entry with `sum`, and in another one with a check. If LMDB fails during
 * a commit, the program opens the database again, and looks if the commit is there.
 */
async function count(client, times) {
  for (let n = 0; n < times; ) {
    const key = ["done", `${name}:${client}:${n}`];
    const used = kv;
    const versionstamp = await countOnce(key).catch(async (error) => {
      await openAgain(used, error);
      return (await kv.get(key)).versionstamp;
    });
    if (versionstamp === null) continue;
    console.log(versionstamp);
    n++;
  }
}

async function countOnce(key) {
  const entry = await kv.get(["checked"]);
  const result = await kv
    .atomic()
    .check(entry)
    .set(["checked"], (entry.value ?? 0) + 1)
    .set(key, 1)
    .sum(["sum"], 1n)
    .commit();
  return result.ok ? result.versionstamp : null;
}

let opening;

/** Opens the database once for all clients of the one that has failed. */
async function openAgain(failed, error) {
  if (!["KW_ENGINE_FAILED", "KW_DATABASE_CLOSED"].includes(error.code)) throw error;
  if (failed === kv) {
    opening ??= failed
      .close()
      .then(open)
      .then((opened) => {
        kv = opened;
        opening = undefined;
      });
  }
  await opening;
}

if (work === "count") {
  await Promise.all(Array.from({ length: 8 }, (_, client) => count(client, 25)));
  await kv.close();
}

if (work === "write until killed") {
  for (let n = 0; ; n++) {
    const result = await kv
      .atomic()
      .set(["written", name, n], "x".repeat(n % 5000))
      .sum(["sum"], 1n)
      .commit();
    console.log(`${n} ${result.versionstamp}`);
  }
}

if (work === "build index") {
  const schema = z.object({ id: z.int(), group: z.int() });
  const members = defineModel({
    name: "members",
    schema,
    primaryKey: "id",
    indexes: { byGroup: { key: "group", count: true } },
  });
  const db = await createDatabase({ kv, models: { members } });
  await migrate(db, { wait: true });
  const id = 10_000 + Number(name);
  await db.members.create({ data: { id, group: 7 } });
  console.log(await db.members.count({ where: { group: 1 } }));
  await kv.close();
}
