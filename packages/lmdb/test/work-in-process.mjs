// A process of `processes.test.ts`. It does one kind of work on a database that others have open.
import { openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import * as z from "zod";
import { lmdbEngine } from "../dist/index.js";

const [path, work, name] = process.argv.slice(2);
const kv = await openKv(await lmdbEngine({ path }));

/** Each client counts in one entry with `sum`, and in another one with a check. */
async function count(client, times) {
  for (let n = 0; n < times; ) {
    const entry = await kv.get(["checked"]);
    const result = await kv
      .atomic()
      .check(entry)
      .set(["checked"], (entry.value ?? 0) + 1)
      .set(["done", `${name}:${client}:${n}`], 1)
      .sum(["sum"], 1n)
      .commit();
    if (result.ok) {
      console.log(result.versionstamp);
      n++;
    }
  }
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
