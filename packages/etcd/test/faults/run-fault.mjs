import { randomUUID } from "node:crypto";
import { KvU64, openKv } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { EtcdCluster } from "../server/etcd-cluster.mjs";
import { contradictions } from "./check-history.mjs";
import { crashes, partitions } from "./faults.mjs";

const registers = 8;
const clients = 4;
const writersPerClient = 4;

export const faults = { ...crashes, ...partitions };

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Runs writers during a fault, and checks their history. With `sync`, the members write with fsync.
 *
 * Returns the number of commits, of errors by their code, and the longest time without a commit in
 * milliseconds, of all clients together and of one client, with what contradicts strict
 * serializability. Each client has made commits after the fault.
 */
export async function runFault(name, { sync = false } = {}) {
  const cluster = await EtcdCluster.start(3, { isDivisible: name in partitions, sync });
  const history = { writes: [], reads: [], increments: [], final: undefined };
  const errors = {};
  const kvs = [];
  try {
    const { endpoints } = cluster;
    for (let i = 0; i < clients; i++) {
      // Each client begins with another member.
      const own = endpoints.map((_, index) => endpoints[(index + i) % endpoints.length]);
      kvs.push(
        await openKv(await etcdEngine({ endpoints: own, deadline: i === 3 ? 1500 : 15_000 })),
      );
    }
    let isRunning = true;
    const note = (error) => {
      const code = error.code ?? error.message;
      errors[code] = (errors[code] ?? 0) + 1;
    };
    const writers = kvs.flatMap((kv) =>
      Array.from({ length: writersPerClient }, async () => {
        while (isRunning) {
          await step(kv, history).catch(note);
          await sleep(Math.random() * 32);
        }
      }),
    );
    await commitsOfEach(kvs, history);
    await faults[name](cluster);
    await sleep(1000);
    await commitsOfEach(kvs, history);
    isRunning = false;
    await Promise.all(writers);
    history.final = await finalState(kvs[0]);
    const commits = kvs.flatMap((kv) => commitsOf(history, kv));
    return {
      commits: commits.length,
      errors,
      longestGap: longestGap(commits),
      longestClientGap: Math.max(...kvs.map((kv) => longestGap(commitsOf(history, kv)))),
      contradictions: contradictions(history),
    };
  } finally {
    for (const kv of kvs) await kv.close();
    await cluster.stop();
  }
}

async function step(kv, history) {
  const kind = Math.random();
  if (kind < 0.3) {
    const id = randomUUID();
    const sum = kv.atomic().sum(["counter"], 1n).set(["markers", id], true);
    if (kind < 0.1) sum.set(["log", kv.commitVersionstamp()], id);
    await record(history.increments, { kv, id }, () => sum.commit());
    return;
  }
  const key = `r${Math.floor(Math.random() * registers)}`;
  const read = { key, start: performance.now() };
  const { value, versionstamp } = await kv.get(["registers", key]);
  Object.assign(read, { value, stamp: versionstamp, end: performance.now() });
  history.reads.push(read);
  if (kind < 0.5) return;
  const write = { kv, key, value: randomUUID(), previous: versionstamp };
  const set = kv
    .atomic()
    .check({ key: ["registers", key], versionstamp })
    .set(["registers", key], write.value);
  await record(history.writes, write, () => set.commit());
}

/** Makes a commit and records it, unless it certainly has no effect. */
async function record(list, entry, commit) {
  entry.start = performance.now();
  try {
    const result = await commit();
    entry.end = performance.now();
    entry.stamp = result.versionstamp;
    if (result.ok) list.push(entry);
  } catch (error) {
    if (error.code === "KW_COMMIT_AMBIGUOUS")
      list.push({ ...entry, stamp: undefined, end: Infinity });
    throw error;
  }
}

async function finalState(kv) {
  const entriesOf = async (prefix) => await collect(kv.list({ prefix: [prefix] }));
  const counter = await kv.get(["counter"]);
  const found = await entriesOf("registers");
  const markers = await entriesOf("markers");
  const log = await entriesOf("log");
  return {
    registers: found.map(({ key, value, versionstamp }) => ({
      key: key[1],
      value,
      stamp: versionstamp,
    })),
    counter: Number((counter.value ?? new KvU64(0n)).value),
    markers: markers.map(({ key, versionstamp }) => ({ id: key[1], stamp: versionstamp })),
    log: log.map(({ key, value }) => ({ id: value, stamp: key[1] })),
  };
}

/** Waits until each client has begun and made further commits. */
async function commitsOfEach(kvs, history) {
  const since = performance.now();
  const isWorking = (kv) =>
    commitsOf(history, kv).filter(({ start }) => start > since).length >= 15;
  while (!kvs.every(isWorking)) await sleep(50);
}

function commitsOf({ writes, increments }, kv) {
  return [...writes, ...increments].filter((each) => each.kv === kv && each.stamp !== undefined);
}

function longestGap(commits) {
  const ends = commits.map(({ end }) => end).sort((a, b) => a - b);
  let longest = 0;
  for (const [index, end] of ends.entries())
    longest = Math.max(longest, end - (ends[index - 1] ?? end));
  return Math.round(longest);
}

async function collect(iterator) {
  const entries = [];
  for await (const entry of iterator) entries.push(entry);
  return entries;
}
