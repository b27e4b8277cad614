import { KvU64 } from "@keywright/core";

/**
 * How many keys of each kind there are. Few, so that most commits change what others have written.
 */
const counts = { set: 40, row: 400, sum: 4, max: 2, brief: 20 };
const briefMilliseconds = 20;

/**
 * Returns a random commit as data: its id, what it changes, and for some the number of a key that
 * must be absent, so that the commit may be refused.
 *
 * @param hasMax false to leave out `max`, which cannot be undone where the log has its operand.
 */
export function nextCommit(random, id, hasMax) {
  const kinds = ["set", "set", "row", "row", "delete", "sum", "sum", "deleteSum", "brief"];
  if (hasMax) kinds.push("max");
  const length = 1 + random.below(4);
  const changes = Array.from({ length }, () => nextChange(random.pick(kinds), random));
  const absent = random.next() < 0.1 ? random.below(counts.set) : undefined;
  return { id, changes, ...(absent !== undefined && { absent }) };
}

function nextChange(kind, random) {
  const number = random.below(counts[kind.replace(/^delete$/, "set").replace("deleteSum", "sum")]);
  if (kind === "row" || kind === "set") return [kind, number, random.below(1000)];
  return kind === "sum" || kind === "max" ? [kind, number, 1 + random.below(1000)] : [kind, number];
}

/** Makes a commit. Returns the versionstamp, or undefined if it was refused. */
export async function makeCommit(kv, { id, changes, absent }) {
  const operation = kv.atomic().context({ id });
  if (absent !== undefined) operation.check({ key: ["set", absent], versionstamp: null });
  for (const [kind, number, size] of changes) {
    if (kind === "delete") operation.delete(["set", number]);
    else if (kind === "deleteSum") operation.delete(["sum", number]);
    else if (kind === "sum" || kind === "max") operation[kind]([kind, number], BigInt(size));
    else if (kind === "brief")
      operation.set(["brief", number], id, { expireIn: briefMilliseconds });
    else operation.set([kind, number], textOf(id, size));
  }
  const { ok, versionstamp } = await operation.commit();
  return ok ? versionstamp : undefined;
}

/**
 * Applies a commit to a state: a map of values by key as text. Entries that expire are not part of
 * a state.
 */
export function applyCommit(state, { id, changes }) {
  for (const [kind, number, size] of changes) {
    if (kind === "delete") state.delete(nameOf(["set", number]));
    else if (kind === "deleteSum") state.delete(nameOf(["sum", number]));
    else if (kind === "sum" || kind === "max") {
      const name = nameOf([kind, number]);
      const before = state.get(name) ?? 0n;
      const operand = BigInt(size);
      state.set(name, kind === "sum" ? before + operand : before > operand ? before : operand);
    } else if (kind !== "brief") state.set(nameOf([kind, number]), textOf(id, size));
  }
}

/** Applies a change of the feed to a state. */
export function applyChange(state, { type, key, after, operand }) {
  if (isBrief(key)) return;
  const name = nameOf(key);
  if (type === "sum") state.set(name, (state.get(name) ?? 0n) + operand.value);
  else if (after === null) state.delete(name);
  else state.set(name, plain(after.value));
}

/** Adds a change of the feed to an atomic operation of a replica. */
export function addChange(operation, { type, key, after, operand }) {
  if (isBrief(key)) return;
  if (type === "sum") operation.sum(["replica", ...key], operand.value);
  else if (after === null) operation.delete(["replica", ...key]);
  else operation.set(["replica", ...key], after.value);
}

/** Reads the state of a database, a view or a replica. */
export async function readState(reads, prefix = []) {
  const state = new Map();
  for await (const { key, value } of reads.list({ prefix }, { batchSize: 500 })) {
    const own = key.slice(prefix.length);
    if (!isBrief(own)) state.set(nameOf(own), plain(value));
  }
  return state;
}

/** Returns a difference of two states in words, or undefined if they are equal. */
export function differenceOf(state, expected) {
  for (const [name, value] of expected) {
    if (!state.has(name)) return `${name} is missing`;
    if (state.get(name) !== value)
      return `${name} is ${short(state.get(name))}, and should be ${short(value)}`;
  }
  for (const name of state.keys()) if (!expected.has(name)) return `${name} is there`;
  return undefined;
}

function isBrief(key) {
  return key[0] === "brief";
}

function nameOf(key) {
  return JSON.stringify(key);
}

/** The value of a commit: its id, and as many characters as its size. */
function textOf(id, size) {
  return `${id} ${"x".repeat(size)}`;
}

function plain(value) {
  return value instanceof KvU64 ? value.value : value;
}

function short(value) {
  return String(value).slice(0, 30);
}
