import type { KvEntry, KvKey, KvKeyPart, KvListSelector } from "@keywright/core";
import type { KeyChild, KeyEntry } from "../protocol/keys.js";
import { isCorruption } from "../source/known-damage.js";
import type { Source } from "../source/source.js";
import type { CallsOf } from "./calls-of.js";
import { keyAfter } from "./key-after.js";
import { storedValue } from "./stored-value.js";

const pageSize = 100;

/**
 * The calls that read keys. The next parts of the keys below a prefix cost two reads each, whatever
 * the number of keys below them.
 */
export function keyCalls({ kv }: Source): CallsOf<"keys" | "entry"> {
  const first = async (selector: KvListSelector, reverse = false) => {
    // Two, because @deno/kv 0.14 in memory never answers with one if the prefix is itself a key.
    const options = { batchSize: 2, reverse };
    for await (const entry of kv.list(selector, options)) return entry as KvEntry<unknown>;
    return undefined;
  };
  /** Returns the last key that begins with a prefix, or the prefix itself if there is none. */
  const lastKey = async (prefix: KvKey): Promise<KvKey> => {
    return (await first({ prefix }, true))?.key ?? prefix;
  };
  /** Adds a page of children. Returns true if there are more. */
  const readChildren = async (
    children: KeyChild[],
    prefix: readonly KvKeyPart[],
    after: KvKeyPart | undefined,
  ): Promise<boolean> => {
    const length = prefix.length + 1;
    let start = after === undefined ? undefined : keyAfter(await lastKey([...prefix, after]));
    let previous = after;
    for (;;) {
      const entry = await first(start === undefined ? { prefix } : { prefix, start });
      if (entry === undefined) return false;
      if (children.length === pageSize) return true;
      const part = entry.key[prefix.length]!;
      if (previous !== undefined && isSamePart(part, previous)) {
        // Another program has added a key below it since.
        start = keyAfter(await lastKey([...prefix, part]));
        continue;
      }
      previous = part;
      const own = entry.key.length === length ? keyEntry(entry) : null;
      const last = await lastKey([...prefix, part]);
      children.push({ part, entry: own, hasChildren: own === null || last.length > length });
      start = keyAfter(last);
    }
  };
  return {
    entry: async ({ key }) => {
      if (key.length === 0) return null;
      const entry = await kv.get(key as KvKey);
      return entry.versionstamp === null ? null : keyEntry(entry as KvEntry<unknown>);
    },
    keys: async ({ prefix, after }) => {
      const children: KeyChild[] = [];
      try {
        const isMore = await readChildren(children, prefix, after);
        return { children, ...(isMore && { next: children.at(-1)!.part }) };
      } catch (error) {
        // The keys before a damage can be read.
        if (!isCorruption(error) || children.length === 0) throw error;
        return { children, next: children.at(-1)!.part, damage: error.message };
      }
    },
  };
}

function isSamePart(a: KvKeyPart, b: KvKeyPart): boolean {
  if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return Object.is(a, b);
  return Buffer.compare(a, b) === 0;
}

function keyEntry(entry: KvEntry<unknown>): KeyEntry {
  const { key, versionstamp, expireAt = null } = entry;
  const { value, bytes } = storedValue(entry.value);
  return { key, value, versionstamp, bytes, expiresAt: expireAt, type: typeText(value) };
}

function typeText(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const { name } = value.constructor ?? { name: "object" };
  return name === "Object" ? "object" : name;
}
