import assert from "node:assert/strict";
import type {
  AtomicWrite,
  Engine,
  StoredEntry,
  StoredMutation,
  StoredSet,
} from "../../engine/engine.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";
import { type KeyRange, keyRange } from "../../keys/key-range.js";
import { soon } from "../soon.js";

export interface PlainEntry {
  readonly key: number[];
  readonly value: number[];
  readonly versionstamp: string;
}

export function k(...parts: KvKey): Uint8Array {
  return encodeKey(parts);
}

export function v(...bytes: number[]): Uint8Array {
  return Uint8Array.from(bytes);
}

/** Returns a mutation that stores a value of one byte under a key of one part. */
export function set(name: string, number: number, options?: Partial<StoredSet>): StoredMutation {
  return { type: "set", key: k(name), value: v(number), ...options };
}

export function del(name: string): StoredMutation {
  return { type: "delete", key: k(name) };
}

export function combine(
  type: "sum" | "min" | "max",
  name: string,
  operand: bigint,
): StoredMutation {
  return { type, key: k(name), operand };
}

export function deleteExpired(name: string): StoredMutation {
  return { type: "deleteExpired", key: k(name) };
}

export function check(name: string, versionstamp: string | null): AtomicWrite["checks"][number] {
  return { key: k(name), versionstamp };
}

/** Returns an atomic write of mutations. If the first argument is an array, it holds the checks. */
export function write(
  ...parts: [AtomicWrite["checks"], ...StoredMutation[]] | StoredMutation[]
): AtomicWrite {
  const [first, ...rest] = parts;
  const hasChecks = Array.isArray(first);
  return {
    checks: hasChecks ? (first as AtomicWrite["checks"]) : [],
    mutations: (hasChecks ? rest : parts) as StoredMutation[],
    sync: true,
  };
}

/** Commits one write and returns its versionstamp. Fails if the write is refused. */
export async function commit(engine: Engine, write: AtomicWrite): Promise<string> {
  const [outcome] = await engine.commit([write]);
  assert.equal(typeof outcome, "string");
  return outcome as string;
}

/**
 * Commits one write as {@link commit} does. Resolves when the engine has reported it to its
 * watches, which is when it has reported a later commit.
 */
export async function commitReported(engine: Engine, write: AtomicWrite): Promise<string> {
  const versionstamp = await commit(engine, write);
  await allReported(engine);
  return versionstamp;
}

/** Resolves when the engine has reported all earlier commits to its watches. */
export async function allReported(engine: Engine): Promise<void> {
  // A system key, so that no watch of a test sees it.
  const key = Uint8Array.of(0, 4, 0xfe);
  let stop: () => void = () => undefined;
  const report = new Promise<void>((resolve) => {
    stop = engine.watch([key], resolve);
  });
  await commit(engine, write({ type: "set", key, value: v(0) }));
  await soon("the report of a commit", report);
  stop();
}

/** Commits writes together. Returns for each of them whether it was applied. */
export async function applied(engine: Engine, ...writes: AtomicWrite[]): Promise<boolean[]> {
  return (await engine.commit(writes)).map((outcome) => typeof outcome === "string");
}

/** Reads a range. The default is all entries. */
export function list(
  engine: Engine,
  range: KeyRange = keyRange({ prefix: [] }),
  limit = 1000,
  reverse = false,
): Promise<StoredEntry[]> {
  return engine.getRange({ range, limit, reverse });
}

/** Returns an entry with arrays in place of bytes, for comparison. Omits its expiry. */
export function plain(entry: StoredEntry | undefined): PlainEntry | undefined {
  return (
    entry && { key: [...entry.key], value: [...entry.value], versionstamp: entry.versionstamp }
  );
}

export function firstBytes(entries: readonly (StoredEntry | undefined)[]): (number | undefined)[] {
  return entries.map((entry) => entry?.value[0]);
}

export function stampsOf(entries: readonly (StoredEntry | undefined)[]): (string | undefined)[] {
  return entries.map((entry) => entry?.versionstamp);
}

/** Returns the first byte of each value, or undefined if the key is absent. */
export async function values(engine: Engine, ...names: string[]): Promise<(number | undefined)[]> {
  return firstBytes(await engine.getMany(names.map((name) => k(name))));
}

export function assertStrictlyIncreasing(stamps: readonly unknown[]): void {
  for (const [index, stamp] of stamps.entries()) {
    assert.match(String(stamp), /^[0-9a-f]{20}$/);
    if (index > 0)
      assert.ok(String(stamps[index - 1]) < String(stamp), `${index}: ${String(stamp)}`);
  }
}
