// A process of `processes.test.ts`. It does one kind of work on a database that others have open.
import { openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import * as z from "zod";
import { sqliteEngine } from "../dist/index.js";

const [path, work, name] = process.argv.slice(2);
const open = async () => await openKv(await sqliteEngine({ path }), { durability: "relaxed" });

/** Counts in one entry with `sum`, and in another one with a check. */
async function count(kv, key) {
  for (;;) {
    const entry = await kv.get(["checked"]);
    const result = await kv
      .atomic()
      .check(entry)
      .set(["checked"], (entry.value ?? 0) + 1)
      .set(key, 1)
      .sum(["sum"], 1n)
      .commit();
    if (result.ok) return result.versionstamp;
  }
}

if (work === "count") {
  const kv = await open();
  const client = async (id) => {
    for (let n = 0; n < 25; n++) console.log(await count(kv, ["done", `${name}:${id}:${n}`]));
  };
  await Promise.all(Array.from({ length: 8 }, (_, id) => client(id)));
  await kv.close();
}

if (work === "open and close") {
  for (let n = 0; n < 20; n++) {
    const kv = await open();
    for (let i = 0; i < 4; i++) console.log(await count(kv, ["done", `${name}:${n}:${i}`]));
    await kv.close();
  }
}

if (work === "write until killed") {
  const kv = await open();
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
  const kv = await open();
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

// The disk or the limit of the size of files is reached. The program has to survive it.
if (work === "write until the disk is full") {
  const kv = await open();
  for (let n = 0; ; n++) {
    const error = await kv.set(["n", n], "x".repeat(50_000)).catch((thrown) => thrown);
    if (!(error instanceof Error)) continue;
    console.log(`${error.code} ${error.cause?.code} ${n > 5}`);
    break;
  }
  console.log((await kv.get(["n", 0])).value.length);
  await kv.close();
  // A rejection that nobody handles would end the process by now.
  await new Promise((resolve) => setImmediate(resolve));
  console.log("closed");
}

if (work === "read only") {
  console.log(await open().catch(({ code }) => code));
  const kv = await openKv(await sqliteEngine({ path, readOnly: true }), { readOnly: true });
  console.log((await kv.get(["a"])).value);
  console.log(await kv.set(["a"], 2).catch(({ code }) => code));
  await kv.close();
}

if (work === "count in thread") {
  const kv = await open();
  for (let n = 0; n < 50; n++) await count(kv, ["done", `${name}:${n}`]);
  await kv.close();
}
