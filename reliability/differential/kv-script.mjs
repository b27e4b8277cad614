import { Buffer } from "node:buffer";
import { inspect } from "node:util";
import * as deno from "@deno/kv";
import * as ours from "@keywright/core";

// Without -0, which `@deno/kv` returns as 0.
const parts = ["", "a", "ab", "a\0", "b", "é", "\u{1f600}", 0, 1, -1.5, 1e300, Infinity, 1n, -1n];
const bytes = [Uint8Array.of(), Uint8Array.of(0), Uint8Array.of(0, 255), Uint8Array.of(255)];
const allParts = [...parts, true, false, 10n ** 30n, -(10n ** 30n), ...bytes];
const malformed = [[Number.NaN, null], [{}], [undefined], ["x".repeat(3000)]];

/** Keys of numbers. Only these are given to sum, min and max, because others refuse them. */
const numberKeys = [["n"], ["n", 1], ["n", "a"]];

/** Opens Deno KV, and a database of ours in its mode. */
export async function openBoth() {
  return {
    ours: { kv: await ours.openKv(":memory:", { compat: "deno" }), KvU64: ours.KvU64 },
    deno: {
      kv: await deno.openKv(":memory:", { implementation: "sqlite" }),
      KvU64: deno.KvU64,
      listsWhole: true,
    },
  };
}

/**
 * Runs a random script on two databases, call by call.
 *
 * @returns the calls whose outcomes differ, as text.
 */
export async function runScript(both, random, calls) {
  const keys = Array.from({ length: 12 }, () => newKey(random));
  const sides = [new Side(both.ours), new Side(both.deno)];
  for (let i = 0; i < calls; i++) {
    const call = newCall(random, keys);
    const [mine, theirs] = [show(await sides[0].run(call)), show(await sides[1].run(call))];
    if (mine !== theirs) return [`${show(call)}\n  ours: ${mine}\n  Deno: ${theirs}`];
  }
  return [];
}

function newKey(random) {
  if (random.below(40) === 0) return random.pick(malformed);
  return Array.from({ length: 1 + random.below(3) }, () => random.pick(allParts));
}

function newCall(random, keys) {
  const key = () => (random.below(20) === 0 ? newKey(random) : random.pick(keys));
  switch (random.below(8)) {
    case 0:
      return { type: "set", key: key(), value: newValue(random, 3) };
    case 1:
      return { type: "delete", key: key() };
    case 2:
      return { type: "get", key: random.below(4) === 0 ? random.pick(numberKeys) : key() };
    case 3:
      return { type: "getMany", keys: Array.from({ length: random.below(12) }, key) };
    case 4:
    case 5:
      return newAtomic(random, key);
    default:
      return { type: "list", ...newList(random, key) };
  }
}

function newAtomic(random, key) {
  const checks = Array.from({ length: random.below(3) }, () => ({
    key: key(),
    expected: random.pick(["absent", "current", "current", "other"]),
  }));
  const mutations = Array.from({ length: random.below(4) }, () => {
    const type = random.pick(["set", "delete", "sum", "min", "max"]);
    if (type === "delete") return { type, key: key() };
    if (type === "set") return { type, key: key(), value: newValue(random, 2) };
    const n = random.pick([0n, 1n, 7n, 2n ** 63n, 2n ** 64n - 1n]);
    return { type, key: random.pick(numberKeys), n };
  });
  return { type: "atomic", checks, mutations };
}

function newList(random, key) {
  const shorter = () => {
    const whole = key();
    return Array.isArray(whole) ? whole.slice(0, random.below(whole.length + 1)) : whole;
  };
  const selector = random.pick([
    () => ({ prefix: shorter() }),
    () => ({ prefix: [] }),
    () => ({ start: key(), end: key() }),
    () => {
      const prefix = shorter();
      return { prefix, end: [...prefix, random.pick(allParts)] };
    },
    () => {
      const prefix = shorter();
      return { prefix, start: [...prefix, random.pick(allParts)] };
    },
  ])();
  const options = {};
  if (random.below(2) === 0) options.limit = random.pick([1, 2, 3, 10, 0, -1, 1.5]);
  if (random.below(2) === 0) options.reverse = random.below(2) === 0;
  if (random.below(2) === 0) options.batchSize = random.pick([500, 501, 0, 1, 2, 3]);
  if (random.below(4) === 0) options.consistency = "eventual";
  return { selector, options };
}

function newValue(random, depth) {
  const inner = () => newValue(random, depth - 1);
  const plain = [
    () => random.pick([null, undefined, true, 0, -0, 1.5, Number.NaN, "", "text", 10n ** 20n]),
    () => new Date(random.pick([0, 1e12, Number.NaN])),
    () => Uint8Array.from({ length: random.below(9) }, () => random.below(256)),
    () => new Float64Array([random.next()]),
    () => /a+/gi,
    () => new RangeError("too far"),
    () => "x".repeat(random.pick([10, 1000, 70_000])),
  ];
  const nested = [
    () => Array.from({ length: random.below(4) }, inner),
    () => ({ a: inner(), b: inner() }),
    () => new Map([[inner(), inner()]]),
    () => new Set([inner()]),
    // biome-ignore lint/suspicious/noSparseArray: holes are stored too.
    () => [, inner()],
    () => () => 1,
  ];
  return random.pick(depth === 0 || random.below(2) === 0 ? plain : nested)();
}

/** One of the two databases. Its versionstamps become the numbers of its commits. */
class Side {
  #kv;
  #KvU64;
  #listsWhole;
  #commits = new Map();

  constructor({ kv, KvU64, listsWhole = false }) {
    this.#kv = kv;
    this.#listsWhole = listsWhole;
    this.#KvU64 = KvU64;
  }

  /** Returns the result of a call, or that it failed. The classes of errors differ. */
  async run(call) {
    try {
      return await this.#run(call);
    } catch {
      return { failed: true };
    }
  }

  async #run(call) {
    const kv = this.#kv;
    switch (call.type) {
      case "set":
        return this.#resultOf(await kv.set(call.key, call.value));
      case "delete":
        return await kv.delete(call.key);
      case "get":
        return this.#entryOf(await kv.get(call.key));
      case "getMany":
        return (await kv.getMany(call.keys)).map((entry) => this.#entryOf(entry));
      case "atomic":
        return this.#resultOf(await this.#commit(call));
      default:
        return await this.#list(call);
    }
  }

  async #commit({ checks, mutations }) {
    const operation = this.#kv.atomic();
    for (const { key, expected } of checks) {
      const current = (await this.#kv.get(key)).versionstamp;
      const stamps = { absent: null, current, other: "0".repeat(20) };
      operation.check({ key, versionstamp: stamps[expected] });
    }
    for (const { type, key, value, n } of mutations) {
      if (type === "set") operation.set(key, value);
      else if (type === "delete") operation.delete(key);
      else operation[type](key, n);
    }
    return await operation.commit();
  }

  /** Lists entries in pages of the limit, as far as ten pages reach. */
  async #list({ selector, options }) {
    const { limit } = options;
    const isPaged = Number.isInteger(limit) && limit > 0;
    const most = isPaged ? 10 * limit : Number.POSITIVE_INFINITY;
    // `@deno/kv` does not end some lists that have a limit or small batches, so it lists everything
    // at once. Neither changes the entries.
    const hasSmallBatches = options.batchSize > 0 && options.batchSize < 500;
    const whole = hasSmallBatches ? { ...options, batchSize: undefined } : options;
    const listed = isPaged ? { ...whole, limit: undefined } : whole;
    const sent = this.#listsWhole ? listed : options;
    const entries = [];
    let cursor;
    do {
      const before = entries.length;
      const iterator = this.#kv.list(selector, cursor ? { ...sent, cursor } : sent);
      for await (const entry of iterator)
        if (!isPrefix(selector, entry)) entries.push(this.#entryOf(entry));
      cursor = entries.length - before === sent.limit ? iterator.cursor : undefined;
    } while (cursor && entries.length < most);
    return entries.slice(0, most);
  }

  #resultOf(result) {
    if (!result.ok) return { ok: false };
    return { ok: true, commit: this.#commitOf(result.versionstamp) };
  }

  #entryOf({ key, value, versionstamp }) {
    const isNumber = value instanceof this.#KvU64;
    return {
      key,
      value: isNumber ? { u64: value.value } : plainBytes(value),
      commit: versionstamp === null ? null : this.#commitOf(versionstamp),
    };
  }

  #commitOf(versionstamp) {
    if (!this.#commits.has(versionstamp)) this.#commits.set(versionstamp, this.#commits.size);
    return this.#commits.get(versionstamp);
  }
}

/** True if the key of an entry is the prefix itself, which `@deno/kv` lists in some cases. */
function isPrefix({ prefix }, { key }) {
  return prefix?.length === key.length;
}

/** Replaces the buffers that `@deno/kv` returns for bytes. */
function plainBytes(value) {
  if (Buffer.isBuffer(value)) return new Uint8Array(value);
  if (Array.isArray(value)) {
    // Keeps the holes.
    const copy = new Array(value.length);
    for (const i of Object.keys(value)) copy[i] = plainBytes(value[i]);
    return copy;
  }
  if (value instanceof Map) return new Map(Array.from(value, (pair) => pair.map(plainBytes)));
  if (value instanceof Set) return new Set(Array.from(value, plainBytes));
  const isPlain = value?.constructor === Object;
  if (!isPlain) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainBytes(each)]));
}

/** Returns a text that tells all values apart, also -0 and 0, holes and invalid dates. */
function show(value) {
  const all = Number.POSITIVE_INFINITY;
  return inspect(value, { depth: all, maxArrayLength: all, maxStringLength: all });
}
