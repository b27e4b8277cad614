// Works with the models of a database, with 64 calls in flight, until it is killed. kill-run.mjs
// starts it. Before each call it prints the call as JSON, with the number of its client, and after
// it `done <client>`. Each client has its own users and posts; all transfer between the same
// accounts. With the new schema, it also migrates. With `last`, it kills itself after that number
// of calls, because a kill from outside comes a little later.
import { setTimeout } from "node:timers/promises";
import { makeCall } from "../shared/make-call.mjs";
import { accountIds, migrateModels, openModels } from "../shared/models.mjs";
import { openDatabase } from "../shared/open-database.mjs";

const { path, durability, log, round, schema, users, last } = JSON.parse(process.argv[2]);
const kv = await openDatabase(path, { durability, log });
const db = await openModels(kv, schema);
let done = 0;

async function workForEver(client) {
  const own = [...(users[client] ?? [])];
  for (let n = 0; ; n++) {
    const call = nextCall(own, `${round}-${client}-${n}`);
    print(JSON.stringify({ client, ...call }));
    await callOnceReady(call);
    if (call.type === "create") own.push(call.id);
    if (call.type === "delete") own.splice(own.indexOf(call.id), 1);
    print(`done ${client}`);
    if (++done === last) process.kill(process.pid, "SIGKILL");
  }
}

/**
 * Repeats a call that is refused until the migration has dropped the indexes of the old program.
 */
async function callOnceReady(call) {
  for (;;) {
    try {
      return await makeCall(db, schema, call);
    } catch (error) {
      if (schema === "old" || error.code !== "KW_STALE_SCHEMA") throw error;
      await setTimeout(5);
    }
  }
}

function nextCall(own, id) {
  const chance = Math.random();
  const user = pick(own);
  if (chance < 0.2) {
    const [from, to] = [pick(accountIds), pick(accountIds)];
    if (from !== to) return { type: "transfer", id, from, to, amount: below(100) };
  }
  if (user === undefined || chance < 0.4) return { type: "create", id, points: below(1000) };
  if (chance < 0.6) return { type: "post", id, authorId: user };
  if (chance < 0.7) return { type: "delete", id: user };
  return { type: "update", id: user, points: below(1000) };
}

function below(end) {
  return Math.floor(Math.random() * end);
}

function pick(choices) {
  return choices[below(choices.length)];
}

function print(line) {
  process.stdout.write(`${line}\n`);
}

const clients = Array.from({ length: 64 }, (_, client) => workForEver(client));
await Promise.all([schema === "new" && migrateModels(db, { rowsPerSecond: 500 }), ...clients]);
