import assert from "node:assert/strict";
import type { AtomicWrite, Engine, StoredEntry, StoredMutation } from "../../engine/engine.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";

export interface PlainEntry {
  readonly key: number[];
  readonly value: number[];
  readonly versionstamp: string;
}

/** The bytes of a key. */
export function k(...parts: KvKey): Uint8Array {
  return encodeKey(parts);
}

/** A value of some bytes. */
export function v(...bytes: number[]): Uint8Array {
  return Uint8Array.from(bytes);
}

/** Stores a value of one byte under a key of one part. */
export function set(name: string, number: number): StoredMutation {
  return { type: "set", key: k(name), value: v(number) };
}

/** Removes a key of one part. */
export function del(name: string): StoredMutation {
  return { type: "delete", key: k(name) };
}

/** A check of a key of one part. */
export function check(name: string, versionstamp: string | null): AtomicWrite["checks"][number] {
  return { key: k(name), versionstamp };
}

/** An atomic write of mutations, after checks where the first argument is a list of them. */
export function write(
  ...parts: [AtomicWrite["checks"], ...StoredMutation[]] | StoredMutation[]
): AtomicWrite {
  const [first, ...rest] = parts;
  if (Array.isArray(first))
    return {
      checks: first as AtomicWrite["checks"],
      mutations: rest as StoredMutation[],
      sync: true,
    };
  return { checks: [], mutations: parts as StoredMutation[], sync: true };
}

/** Commits one write that must be applied. */
export async function commit(engine: Engine, write: AtomicWrite): Promise<string> {
  const [outcome] = await engine.commit([write]);
  assert.equal(typeof outcome, "string");
  return outcome as string;
}

/** An entry as plain numbers, to be compared; what it says of its expiry is left out. */
export function plain(entry: StoredEntry | undefined): PlainEntry | undefined {
  return (
    entry && {
      key: [...entry.key],
      value: [...entry.value],
      versionstamp: entry.versionstamp,
    }
  );
}

/** The first byte of the value of each of some keys, undefined where there is none. */
export async function values(engine: Engine, ...names: string[]): Promise<(number | undefined)[]> {
  const entries = await engine.getMany(names.map((name) => k(name)));
  return entries.map((entry) => entry?.value[0]);
}
