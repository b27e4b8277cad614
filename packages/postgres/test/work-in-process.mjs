// A process of `processes.test.ts`: opens the database and does one kind of work until it is
// killed.
import { writeSync } from "node:fs";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import * as z from "zod";
import { postgresEngine } from "../dist/index.js";

const [connectionString, prefix, work, name, clockOffset] = process.argv.slice(2);

// A computer whose clock is wrong by this many milliseconds.
const now = Date.now;
Date.now = () => now() + Number(clockOffset);

const engine = await postgresEngine({ connectionString, prefix });
const kv = await openKv(engine);

if (work === "write") {
  console.log("ready");
  for (let n = 0; ; n++) {
    await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        kv
          .atomic()
          .sum(["sum"], 1n)
          .set(["done", `${name}:${n}:${i}`], 1)
          .commit(),
      ),
    );
  }
}

// Does what the writers of `faults/history.ts` do.
if (work === "increment") {
  console.log("ready");
  const increment = async (writer) => {
    for (let n = 0; ; n++) {
      const register = (writer + n) % 4;
      const entry = await kv.get(["register", register]);
      const value = (entry.value ?? 0) + 1;
      const id = `${name}:${writer}:${n}`;
      const result = await kv
        .atomic()
        .check(entry)
        .set(["register", register], value)
        .set(["proof", id], { register, value })
        .sum(["sum"], 1n)
        .commit();
      if (result.ok) console.log(`${id} is ${result.versionstamp}`);
    }
  };
  for (let writer = 0; writer < 16; writer++) void increment(writer);
}

if (work === "listen") {
  // No message ends before both processes have some. One alone takes at most 100 at a time.
  const bothHaveSome = (async () => {
    for await (const both of kv.watch([
      ["by", "a"],
      ["by", "b"],
    ]))
      if (both.every(({ value }) => value !== null)) return;
  })();
  void kv.listenQueue(async (message) => {
    await kv.atomic().sum(["delivered", message], 1n).set(["by", name], 1).commit();
    await bothHaveSome;
  });
  console.log("ready");
}

if (work === "hold") {
  void kv.listenQueue(() => {
    console.log("ready");
    return new Promise(() => undefined);
  });
}

// Stands still after the first batch of index entries.
if (work === "stop in migration") {
  const commit = engine.commit.bind(engine);
  engine.commit = async (writes) => {
    const outcomes = await commit(writes);
    if (writes.some(({ mutations }) => mutations.length > 20)) {
      writeSync(1, "ready\n");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return outcomes;
  };
}

if (work === "migrate" || work === "stop in migration") {
  const rows = defineModel({
    name: "rows",
    schema: z.object({ id: z.int(), color: z.string() }),
    primaryKey: "id",
    indexes: { byColor: { key: "color", count: true } },
  });
  const db = await createDatabase({ kv, models: { rows } });
  if (work === "migrate") console.log("ready");
  const { status } = await migrate(db, { wait: true });
  console.log(status);
  await kv.close();
}
