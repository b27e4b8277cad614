import { setImmediate as turn } from "node:timers/promises";
import { KvU64 } from "@keywright/core";

const keys = ["a", "b", "c", "d", "e"].map((name) => ["history", name]);

/**
 * Lets clients read and write the same few keys at the same time, and records their calls.
 *
 * A history is `{ commits, reads, final }`. All times are numbers of one counter, so that a call
 * has ended before another one begins if and only if its `end` is less than the other's `start`.
 *
 * - `commits`: `{ start, end, checks: [{ key, stamp }], writes: [{ type, key, value }], stamp }`.
 *   `type` is `set`, `delete` or `sum`. `stamp` is null if the commit was refused.
 * - `reads`: `{ start, end, entries: [{ key, stamp, value }] }`, read in one call. A stamp of null
 *   means that there is no entry.
 * - `final`: the entries after all calls.
 *
 * @param kv an empty database.
 * @param random chooses what the clients do.
 * @param pause is called between calls. The default waits for the next turn of the event loop.
 */
export async function recordHistory(kv, { random, clients, calls, pause = turn }) {
  const history = { commits: [], reads: [], final: [] };
  let clock = 0;
  let lastValue = 0;

  async function client() {
    /** The version of each key that this client has read last. It may be outdated. */
    const known = new Map(keys.map((key) => [String(key), null]));
    for (let i = 0; i < calls; i++) {
      if (random.below(3) === 0) await pause();
      if (random.below(2) === 0) await read(known);
      else await commit(known);
    }
  }

  async function read(known) {
    const start = ++clock;
    const entries = await readEntries(kv, random);
    const end = ++clock;
    history.reads.push({ start, end, entries });
    for (const { key, stamp } of entries) known.set(String(key), stamp);
  }

  async function commit(known) {
    const operation = kv.atomic();
    const checks = chosen(0, 3).map((key) => ({ key, stamp: known.get(String(key)) }));
    for (const { key, stamp } of checks) operation.check({ key, versionstamp: stamp });
    const writes = chosen(1, 3).map((key) => newWrite(key));
    for (const { type, key, value } of writes) {
      if (type === "set") operation.set(key, value);
      else if (type === "delete") operation.delete(key);
      else operation.sum(key, value);
    }
    const start = ++clock;
    const result = await operation.commit();
    const end = ++clock;
    const stamp = result.ok ? result.versionstamp : null;
    history.commits.push({ start, end, checks, writes, stamp });
  }

  /** The last key has numbers only, and the others have none. */
  function newWrite(key) {
    const type = random.pick(["set", "set", "delete", "sum"]);
    if (type === "delete") return { type, key };
    if (key === keys.at(-1)) return { type: "sum", key, value: BigInt(++lastValue) };
    return { type: "set", key, value: ++lastValue };
  }

  function chosen(least, most) {
    const count = least + random.below(most - least + 1);
    return [...keys].sort(() => random.next() - 0.5).slice(0, count);
  }

  await Promise.all(Array.from({ length: clients }, client));
  history.final = await listed(kv);
  return history;
}

/** Reads one key, some keys, or all keys as a list that fits one batch. */
async function readEntries(kv, random) {
  const kind = random.below(3);
  if (kind === 0) return [entryOf(await kv.get(random.pick(keys)))];
  if (kind === 1) return (await kv.getMany(keys.slice(random.below(4)))).map(entryOf);
  return await listed(kv);
}

async function listed(kv) {
  const found = new Map();
  for await (const entry of kv.list({ prefix: ["history"] })) found.set(String(entry.key), entry);
  return keys.map((key) => entryOf(found.get(String(key)) ?? { key, versionstamp: null }));
}

function entryOf({ key, value, versionstamp }) {
  const plain = value instanceof KvU64 ? value.value : value;
  return { key, stamp: versionstamp, value: versionstamp === null ? undefined : plain };
}
