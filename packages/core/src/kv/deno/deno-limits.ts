import { LimitExceededError } from "../../errors/core-errors.js";
import type { KvLimits } from "../limits.js";
import { denoError } from "./deno-error.js";

/**
 * The limits of Deno KV (`ext/kv/config.rs` of denoland/deno). A key to read may be one byte longer
 * than `keyBytes`.
 */
export const denoLimits: KvLimits = {
  keyBytes: 2048,
  valueBytes: 65_536,
  keys: 10,
  batchSize: 1000,
  watchedKeys: 10,
  checks: 100,
  mutations: 1000,
  totalMutationBytes: 819_200,
  totalKeyBytes: 81_920,
};

/** Deno's error texts by limit. Messages of the queue share the limit `valueBytes`. */
const texts: Readonly<Record<keyof KvLimits | "messageBytes", (max: number) => string>> = {
  keyBytes: (max) => `Key too large for write (max ${max} bytes)`,
  valueBytes: (max) => `Value too large (max ${max} bytes)`,
  messageBytes: (max) => `enqueue payload too large (max ${max} bytes)`,
  keys: (max) => `Too many ranges (max ${max})`,
  batchSize: (max) => `Too many entries (max ${max})`,
  watchedKeys: (max) => `Too many keys (max ${max})`,
  checks: (max) => `Too many checks (max ${max})`,
  mutations: (max) => `Too many mutations (max ${max})`,
  totalMutationBytes: (max) => `Total mutation size too large (max ${max} bytes)`,
  totalKeyBytes: (max) => `Total key size too large (max ${max} bytes)`,
};

export function assertWithinDeno(limits: KvLimits, name: keyof KvLimits, actual: number): void {
  if (actual > limits[name]) throw exceeded(texts[name](limits[name]), name, limits[name], actual);
}

export function assertMessageSize(limits: KvLimits, bytes: number): void {
  const max = limits.valueBytes;
  if (bytes > max) throw exceeded(texts.messageBytes(max), "valueBytes", max, bytes);
}

/** @throws {TypeError} if the size is more than one byte above the limit of a key to write. */
export function assertReadKeySize(limits: KvLimits, bytes: number): void {
  const max = limits.keyBytes + 1;
  if (bytes <= max) return;
  throw exceeded(`Key too large for read (max ${max} bytes)`, "keyBytes", max, bytes);
}

function exceeded(text: string, name: string, max: number, actual: number): Error {
  return denoError(new LimitExceededError(name, max, actual), text);
}
