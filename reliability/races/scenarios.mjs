import { setTimeout as sleep } from "node:timers/promises";
import { isKeywrightError, openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import { verifyIndexes } from "@keywright/orm/migrate";
import * as z from "zod";
import { checkHistory } from "../histories/check-history.mjs";
import { recordHistory } from "../histories/record-history.mjs";
import { drive, settle } from "./drive.mjs";

/**
 * Each scenario runs with `{ kv, level, scheduler, random }` and returns what is wrong, as
 * sentences. `kv` is a new database on `level`, whose calls wait for the scheduler.
 */
export const scenarios = {
  ...{ commits, watches, queue, close, transactions },
  ...{ unique: uniqueRows, backfill, takeover },
};

/** The time in milliseconds after which a message counts as lost. */
const patience = 5000;
/** How many keys a report of `watchRange` has at most. */
const keysOfReport = 1000;

async function commits({ kv, scheduler, random }) {
  const size = { clients: 2 + random.below(3), calls: 2 + random.below(4) };
  const pause = () => scheduler.schedule(Promise.resolve(), "client");
  const history = await drive(scheduler, recordHistory(kv, { random, ...size, pause }));
  return checkHistory(history);
}

/** The last state of each watched key is delivered, and `watchRange` names each written key. */
async function watches({ kv, scheduler, random }) {
  const keys = [["a"], ["b"]];
  const problems = [];
  const seen = new Map();
  const readers = [];
  const watchAll = async () => {
    await scheduler.schedule(Promise.resolve(), "watch");
    const reader = kv.watch(keys).getReader();
    readers.push(reader);
    for (let read = await reader.read(); !read.done; read = await reader.read())
      for (const entry of read.value) seen.set(String(entry.key), entry.versionstamp);
  };
  const named = new Set();
  const ranges = kv.watchRange([{ prefix: [] }]).getReader();
  readers.push(ranges);
  const written = new Set();
  const watchRanges = async () => {
    for (let read = await ranges.read(); !read.done; read = await ranges.read())
      for (const key of read.value.isComplete ? read.value.keys : written) named.add(String(key));
  };
  const watching = [watchAll(), watchRanges()];
  const writer = async (name) => {
    for (let i = 0; i < 1 + random.below(4); i++) {
      const key = random.pick(keys);
      written.add(String(key));
      if (random.below(4) === 0) await kv.delete(key);
      else await kv.set(key, `${name} ${i}`);
    }
  };
  const writers = [writer("first"), writer("second")];
  if (random.below(20) === 0) writers.push(writeMany(kv, written));
  await drive(scheduler, Promise.all(writers));
  await settle(scheduler);
  for (const entry of await drive(scheduler, kv.getMany(keys)))
    if (seen.get(String(entry.key)) !== entry.versionstamp)
      problems.push(`the watch did not deliver the last state of ${entry.key}`);
  for (const key of written)
    if (!named.has(key)) problems.push(`watchRange did not name the changed key ${key}`);
  await drive(scheduler, Promise.all(readers.map((reader) => reader.cancel())));
  await drive(scheduler, Promise.all(watching));
  return problems;
}

/** Makes a commit with more keys than a report of `watchRange` has. */
async function writeMany(kv, written) {
  const operation = kv.atomic();
  for (let n = 0; n < keysOfReport + 100; n++) {
    operation.set(["many", n], n);
    written.add(String(["many", n]));
  }
  await operation.commit();
}

/**
 * Each acknowledged message is delivered, before the database is closed or after it is opened. One
 * whose handler has succeeded is not delivered again, unless the database is closed.
 */
async function queue({ kv, level, scheduler, random }) {
  const delivered = new Set();
  const acknowledged = new Set();
  const repeated = new Set();
  let isClosing = false;
  const handler = async (message) => {
    if (delivered.has(message) && !isClosing) repeated.add(message);
    await scheduler.schedule(Promise.resolve(), "handler");
    if (random.below(4) === 0 && !delivered.has(`failed ${message}`)) {
      delivered.add(`failed ${message}`);
      throw new Error("a handler fails");
    }
    delivered.add(message);
  };
  const sender = async (name) => {
    for (let i = 0; i < 1 + random.below(3); i++) {
      const message = `${name} ${i}`;
      await kv.enqueue(message, { backoffSchedule: [0, 0, 0] });
      acknowledged.add(message);
    }
  };
  const listening = kv.listenQueue(handler);
  const calls = ["first", "second"].map((name) => expectTyped(sender(name)));
  const closing = steps(scheduler, 2 + random.below(20)).then(() => {
    isClosing = true;
    return kv.close();
  });
  await drive(scheduler, Promise.all([...calls, closing, listening]));
  await settle(scheduler);
  const reopened = await drive(scheduler, openKv(level));
  const ended = reopened.listenQueue(handler);
  const isComplete = () => [...acknowledged].every((message) => delivered.has(message));
  for (const end = Date.now() + patience; !isComplete() && Date.now() < end; ) {
    await settle(scheduler);
    await sleep(1);
  }
  const missing = [...acknowledged].filter((message) => !delivered.has(message));
  await drive(scheduler, Promise.all([reopened.close(), ended]));
  return [
    ...missing.map((message) => `the message ${message} was not delivered`),
    ...[...repeated].map((message) => `the message ${message} was delivered again`),
  ];
}

/** Each call ends with a result or a typed error, and acknowledged commits are there afterwards. */
async function close({ kv, level, scheduler, random }) {
  const acknowledged = new Map();
  const set = async (i) => {
    await kv.set(["set", i], i);
    acknowledged.set(i, i);
  };
  const list = async () => {
    for await (const _ of kv.list({ prefix: ["set"] }, { batchSize: 1 }));
  };
  const watch = async () => {
    const reader = kv.watch([["set", 0]]).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read());
  };
  const choices = [set, set, set, list, watch];
  choices.push(() => kv.get(["set", 0]));
  choices.push(() =>
    kv.getMany([
      ["set", 0],
      ["set", 1],
    ]),
  );
  choices.push((i) =>
    kv
      .atomic()
      .check({ key: ["set", i], versionstamp: null })
      .sum(["n"], 1n)
      .commit(),
  );
  choices.push(
    () => kv.enqueue(1),
    () => kv.listenQueue(() => undefined),
  );
  const client = async (i) => {
    await steps(scheduler, random.below(6));
    const choice = random.pick(choices);
    await expectTyped(() => choice(i));
  };
  const clients = Array.from({ length: 8 }, (_, i) => client(i));
  const closing = steps(scheduler, random.below(12)).then(() => kv.close());
  await drive(scheduler, Promise.all([...clients, closing]));
  const reopened = await drive(scheduler, openKv(level));
  const problems = [];
  for (const i of acknowledged.keys())
    if ((await drive(scheduler, reopened.get(["set", i]))).value !== i)
      problems.push(`the acknowledged value ${i} is missing`);
  await drive(scheduler, reopened.close());
  return problems;
}

const rowSchema = z.object({ id: z.string(), team: z.string(), score: z.number() });
const First = defineModel({ name: "players", schema: rowSchema, primaryKey: "id" });
const Second = defineModel({
  name: "players",
  schema: rowSchema,
  primaryKey: "id",
  count: true,
  indexes: { byTeam: { key: "team", count: true }, byScore: { key: "score", unique: true } },
});

/** Transactions that increment the same rows lose no increment. */
async function transactions({ kv, scheduler, random }) {
  const db = await drive(scheduler, createDatabase({ kv, models: { players: First } }));
  const ids = ["a", "b"];
  for (const id of ids)
    await drive(scheduler, db.players.create({ data: { id, team: "red", score: 0 } }));
  let made = 0;
  const client = async () => {
    for (let i = 0; i < 2; i++) {
      const [from, to] = random.below(2) === 0 ? ids : ids.toReversed();
      const call = db.transaction(async (tx) => {
        const rows = [];
        for (const id of [from, to]) rows.push(await tx.players.findUnique({ where: { id } }));
        for (const { id, score } of rows)
          await tx.players.update({ where: { id }, data: { score: score + 1 } });
      });
      if (await expectTyped(call)) made++;
    }
  };
  await drive(scheduler, Promise.all([client(), client(), client()]));
  const rows = await drive(
    scheduler,
    Promise.all(ids.map((id) => db.players.findUnique({ where: { id } }))),
  );
  return rows
    .filter(({ score }) => score !== made)
    .map(({ id, score }) => `${id} has ${score} increments instead of ${made}`);
}

/** Rows that claim the same unique values at the same time: one row has each value. */
async function uniqueRows({ kv, scheduler, random }) {
  const db = await drive(scheduler, createDatabase({ kv, models: { players: Second } }));
  const client = async (name) => {
    for (let i = 0; i < 2; i++) {
      const score = random.below(2);
      const where = { id: `${name} ${random.below(i + 1)}` };
      const data = { id: `${name} ${i}`, team: "red", score };
      if (random.below(2) === 0) await expectTyped(db.players.update({ where, data: { score } }));
      await expectTyped(db.players.create({ data }));
    }
  };
  await drive(scheduler, Promise.all([client("first"), client("second"), client("third")]));
  const owners = new Map();
  for (const { id, score } of await rowsIn(kv, scheduler))
    owners.set(score, [...(owners.get(score) ?? []), id]);
  return [...owners]
    .filter(([, ids]) => ids.length > 1)
    .map(([score, ids]) => `${ids.join(" and ")} have the unique score ${score}`);
}

/** An index that is built beside writers matches the rows, and the counters are right. */
async function backfill({ kv, scheduler, random }) {
  const db = await withoutIndexes(kv, scheduler);
  const writers = ["first", "second"].map((name) => writePlayers(db, name, random));
  const migrating = migrate(db, { batchSize: 2 });
  await drive(scheduler, Promise.all([migrating, ...writers]));
  await drive(scheduler, migrate(db));
  return await problemsOfPlayers(kv, db, scheduler);
}

/**
 * The same if another program takes a migration over: the lease of the first one has ended, because
 * its process was paused for too long, and it does not know.
 */
async function takeover({ kv, scheduler, random }) {
  const db = await withoutIndexes(kv, scheduler);
  const other = await drive(scheduler, createDatabase({ kv, models: { players: Second } }));
  const first = expectTyped(migrate(db, { batchSize: 1 }));
  const second = steps(scheduler, random.below(120))
    .then(() => kv.delete(["__keywright", "lease"]))
    .then(() => expectTyped(migrate(other, { batchSize: 1 })));
  await drive(scheduler, Promise.all([first, second]));
  await drive(scheduler, migrate(other));
  return await problemsOfPlayers(kv, other, scheduler);
}

/** Stores rows without the indexes that the returned database has. */
async function withoutIndexes(kv, scheduler) {
  const before = await drive(scheduler, createDatabase({ kv, models: { players: First } }));
  const data = Array.from({ length: 6 }, (_, i) => playerOf(i));
  await drive(scheduler, before.players.createMany({ data }));
  return await drive(scheduler, createDatabase({ kv, models: { players: Second } }));
}

function playerOf(i) {
  return { id: `row ${i}`, team: `team ${i % 3}`, score: i };
}

async function writePlayers(db, name, random) {
  for (let i = 0; i < 3; i++) {
    const id = `row ${random.below(6)}`;
    const kind = random.below(3);
    if (kind === 0) {
      const data = { ...playerOf(i), id: `${name} ${i}`, score: random.below(20) };
      await expectTyped(db.players.create({ data }));
    } else if (kind === 1) await expectTyped(db.players.delete({ where: { id } }));
    else {
      const data = { team: `team ${random.below(3)}`, score: random.below(20) };
      await expectTyped(db.players.update({ where: { id }, data }));
    }
  }
}

async function problemsOfPlayers(kv, db, scheduler) {
  const { status, models } = await drive(scheduler, verifyIndexes(db));
  const { length } = await rowsIn(kv, scheduler);
  const counted = await drive(scheduler, db.players.count());
  return [
    ...(status === "clean" || models[0].conflicts > 0
      ? []
      : [`the indexes are ${status}: ${JSON.stringify(models[0].counts)}`]),
    ...(counted === length ? [] : [`${counted} rows are counted instead of ${length}`]),
  ];
}

async function rowsIn(kv, scheduler) {
  const rows = [];
  const read = async () => {
    for await (const { value } of kv.list({ prefix: ["players"] })) rows.push(value);
  };
  await drive(scheduler, read());
  return rows;
}

async function steps(scheduler, count) {
  for (let i = 0; i < count; i++) await scheduler.schedule(Promise.resolve(), "wait");
}

/** Returns false if a call failed with an error of Keywright. Other errors are thrown. */
async function expectTyped(call) {
  try {
    await (typeof call === "function" ? call() : call);
    return true;
  } catch (error) {
    if (isKeywrightError(error)) return false;
    throw new Error(`a call failed with ${error}`, { cause: error });
  }
}
