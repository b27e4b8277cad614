// A process beside others on one database. Its clock differs from theirs by some milliseconds.
// Arguments: the options of etcdEngine as JSON, the difference, the task, and its number.
import { writeSync } from "node:fs";
import { openKv } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import * as z from "zod";

const [options, difference, task, worker] = process.argv.slice(2);
const realNow = Date.now;
Date.now = () => realNow() + Number(difference);

const engine = await etcdEngine(JSON.parse(options));
const kv = await openKv(engine);

async function addToCounters() {
  for (let i = 0; i < 25; i++) {
    await kv.atomic().sum(["sum"], 1n).set(["added", worker, i], i).commit();
    for (;;) {
      const entry = await kv.get(["checked"]);
      const next = kv
        .atomic()
        .check(entry)
        .set(["checked"], (entry.value ?? 0) + 1);
      if ((await next.commit()).ok) break;
    }
  }
}

async function openMembers() {
  const Member = defineModel({
    name: "members",
    schema: z.object({ id: z.int(), group: z.int() }),
    primaryKey: "id",
    indexes: { byGroup: { key: "group", count: true } },
  });
  return await createDatabase({ kv, models: { members: Member } });
}

async function createRows() {
  const db = await openMembers();
  for (let id = 0; id < 5; id++) await db.members.create({ data: { id, group: 1 } });
}

/** Begins to build an index, and stands still after the first batch until it is killed. */
async function stopInMigration() {
  const commit = engine.commit.bind(engine);
  engine.commit = async (writes) => {
    const outcomes = await commit(writes);
    if (writes.some(({ mutations }) => mutations.length > 20)) {
      writeSync(1, "stopped");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return outcomes;
  };
  await migrate(await openMembers());
}

/** Builds an index over the rows, beside other processes that do the same. */
async function buildIndex() {
  const db = await openMembers();
  await migrate(db);
  for (let i = 0; i < 20; i++) {
    await db.members.create({ data: { id: 10_000 + 100 * Number(worker) + i, group: 7 } });
  }
  process.stdout.write(String(await db.members.count({ where: { group: 3 } })));
}

/** Takes messages until there is one that says to stop. */
async function takeMessages() {
  const taken = [];
  let stop;
  const stopped = new Promise((resolve) => {
    stop = resolve;
  });
  const listening = kv.listenQueue((message) => {
    taken.push(message);
  });
  const changes = kv.watch([["stop"]]).getReader();
  process.stdout.write("ready\n");
  void (async () => {
    for (;;) {
      const { value } = await changes.read();
      if (value[0].value === true) return stop();
    }
  })();
  await stopped;
  await kv.close();
  await listening;
  process.stdout.write(JSON.stringify(taken));
}

const tasks = {
  addToCounters,
  createRows,
  stopInMigration,
  buildIndex,
  takeMessages,
};
await tasks[task]();
await kv.close();
