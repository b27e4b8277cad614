// One of several processes that change the same row of a database: attached-turns.test.ts starts
// it. Its arguments are the path of the folder, the number of clients, and how many calls each
// makes, or 0 for calls without end. It says "open", begins when it is told, and then reports its
// calls.
import { once } from "node:events";
import { openKv } from "@keywright/core";
import * as z from "zod";
import { createDatabase, defineModel } from "../dist/index.js";

const [path, clients, calls] = process.argv.slice(2);
const schema = z.object({ id: z.int(), n: z.int() });
const Counter = defineModel({ name: "counters", schema, primaryKey: "id" });
const kv = await openKv(path, { durability: "relaxed" });
const db = await createDatabase({ kv, models: { counters: Counter } });
const where = { id: 1 };
const create = { id: 1, n: 0 };
await db.counters.upsert({ where, create, update: { n: { increment: 0 } } });
process.on("disconnect", () => process.exit());
process.send({ isAttached: kv.attached !== undefined });
await once(process, "message");

const data = { n: { increment: 1 } };
const works = [
  () => db.counters.update({ where, data }),
  // Few attempts, because a call that has its turn needs no more.
  () => db.transaction((tx) => tx.counters.update({ where, data }), { maxAttempts: 10 }),
];
let made = 0;
const failures = [];
const client = async (_, i) => {
  for (let call = 0; Number(calls) === 0 || call < Number(calls); call++) {
    try {
      await works[i % works.length]();
      made++;
    } catch (error) {
      failures.push(String(error));
    }
  }
};
await Promise.all(Array.from({ length: Number(clients) }, client));
const { n } = await db.counters.findUnique({ where });
process.send({ made, failures, n });
