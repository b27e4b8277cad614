// The messages between a process and the one that owns a database, and how engine values become
// plain arrays in them. A request is `[id, call, ...arguments]`, its answer `[id, error, result,
// counter]`, and a report of the owner `[0, kind, ...]`.
import { compareBytes } from "../../bytes/compare-bytes.js";
import type { KeyRange } from "../../keys/key-range.js";
import type {
  AtomicWrite,
  EngineLimits,
  Footprint,
  RangeCheck,
  StoredCheck,
  StoredEntry,
  StoredMutation,
} from "../engine.js";
import type { DatabaseMode } from "../level/database-header.js";
import { isConsumerKey } from "../log/consumer-keys.js";
import { afterEntries, firstSystemKey } from "../system-keys.js";
import { FrameError } from "./frames.js";

/** The second byte of the messages of queues. */
const lastWritableTag = 0x04;

/** The version of the protocol. Both sides must have the same. */
export const protocolVersion = 1;

/** The most keys of one `getMany`, and of one call of a view. A client divides larger ones. */
export const maxKeys = 1000;

/** What the watches of one client may take, by {@link watchedBytes}. */
export const maxWatchedBytes: number = 8 * 1024 * 1024;
const bytesOfWatch = 1024;

/** Returns what a watch of keys or ranges takes: their bytes, and a kibibyte for each. */
export function watchedBytes(places: readonly unknown[]): number {
  let bytes = bytesOfWatch;
  for (const place of places) {
    bytes += bytesOfWatch;
    const parts: readonly unknown[] = Array.isArray(place) ? place : [place];
    for (const part of parts) if (part instanceof Uint8Array) bytes += part.length;
  }
  return bytes;
}

/** How many turns one client may have and wait for. */
export const maxTurns = 1000;
/** What the turns of one client may take, by {@link turnBytes}. */
export const maxTurnBytes: number = 8 * 1024 * 1024;
const bytesOfTurn = 256;
const bytesOfTurnKey = 128;

/** Returns what a turn takes: the bytes of its keys, and some more for each. */
export function turnBytes({ reads, writes }: Footprint): number {
  let bytes = bytesOfTurn;
  for (const keys of [reads, writes]) for (const key of keys) bytes += bytesOfTurnKey + key.length;
  return bytes;
}

/** How many entries come with the answer that a turn begins, and the bytes of their values. */
const maxTurnEntries = 16;
export const maxTurnEntryBytes: number = 64 * 1024;

/** Returns the keys whose entries come with the answer: those that the call reads and writes. */
export function keysWithTurn({ reads, writes }: Footprint): string[] {
  const keys: string[] = [];
  for (const key of writes) if (reads.has(key) && keys.push(key) === maxTurnEntries) break;
  return keys;
}

/**
 * How long a call waits for an owner that does not answer, in milliseconds. The other times of a
 * connection are parts and multiples of it.
 */
export const defaultPatience = 5000;

export type Call =
  | "hello"
  | "get"
  | "getMany"
  | "range"
  | "openView"
  | "viewGet"
  | "viewGetMany"
  | "viewRange"
  | "closeView"
  | "commit"
  | "watch"
  | "watchRanges"
  | "unwatch"
  | "listen"
  | "unlisten"
  | "delivered"
  | "verifyFiles"
  | "takeTurn"
  | "endTurn"
  | "bye";

/** The reports of the owner that answer no request. */
export type Report =
  | "refused"
  | "changed"
  | "message"
  | "listenerEnded"
  | "fileProgress"
  /** Shows that the owner is there while an answer takes long. */
  | "alive";

/** What the owner tells a new client. */
export interface Greeting {
  readonly version: number;
  /** Differs after each start of the owner. */
  readonly instance: string;
  readonly pid: number;
  readonly mode: DatabaseMode;
  readonly limits: EngineLimits;
  /** True if the client can open views. Earlier versions do not say it. */
  readonly hasViews?: boolean;
  /** True if views can be read before the answer to `openView`. Earlier versions do not say it. */
  readonly opensViewsAtOnce?: boolean;
  /** True if a commit may have range checks. Earlier versions do not say it. */
  readonly checksRanges?: boolean;
  /** True if the client can take turns in the line of the owner. Earlier versions do not say it. */
  readonly queuesTurns?: boolean;
  /** The largest message that the owner accepts. */
  readonly maxMessageBytes: number;
}

/** The progress of a check of files. The counts of files are for clients of earlier versions. */
export interface WireFileProgress {
  readonly files: 0;
  readonly filesTotal: 0;
  readonly bytes: number;
  readonly bytesTotal: number;
}

/** A stored entry without its key, which the client knows. */
export type WireEntry = readonly [value: Uint8Array, versionstamp: string, expireAt?: number];

export function wireEntry(entry: StoredEntry | undefined): WireEntry | null {
  if (entry === undefined) return null;
  const { value, versionstamp, expireAt } = entry;
  return expireAt === undefined ? [value, versionstamp] : [value, versionstamp, expireAt];
}

export function entryOf(key: Uint8Array, wire: WireEntry | null): StoredEntry | undefined {
  if (wire === null) return undefined;
  const [value, versionstamp, expireAt] = wire;
  return { key, value: plainBytes(value), versionstamp, expireAt };
}

/** Returns bytes that are not a `Buffer`, in the same memory. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * A range check is a check of the first key of the range, followed by the end of the range. An
 * owner of an earlier version, which ignores the end, therefore refuses the write. It ignores the
 * context and the turn, which are the last elements if there are any.
 */
export function wireWrite({ checks, rangeChecks = [], ...write }: AtomicWrite): unknown[] {
  const { mutations, sync, context, turn } = write;
  return [
    [
      ...checks.map(({ key, versionstamp }) => [key, versionstamp]),
      ...rangeChecks.map(({ range, versionstamp }) => [range.start, versionstamp, range.end]),
    ],
    mutations.map(wireMutation),
    sync,
    ...(context || turn !== undefined ? [context ?? null] : []),
    ...(turn === undefined ? [] : [turn]),
  ];
}

function wireMutation(mutation: StoredMutation): unknown[] {
  const { type, key } = mutation;
  switch (type) {
    case "set":
      return [type, key, mutation.value, mutation.expireAt, mutation.endsInVersionstamp];
    case "delete":
      return [type, key];
    case "deleteExpired":
      return [type, key, mutation.hint?.key, mutation.hint?.dueAt];
    default:
      return [type, key, mutation.operand];
  }
}

/** @throws {FrameError} if the message is not a write. */
export function writeOf(wire: unknown): AtomicWrite {
  const [wireChecks, mutations, sync, context] = listOf(wire);
  const checks: StoredCheck[] = [];
  const rangeChecks: RangeCheck[] = [];
  for (const check of listOf(wireChecks).map(listOf)) {
    if (check.length === 3) rangeChecks.push(rangeCheckOf(check));
    else checks.push(checkOf(check));
  }
  return {
    checks,
    ...(rangeChecks.length > 0 && { rangeChecks }),
    mutations: listOf(mutations).map(mutationOf),
    sync: sync === true,
    ...(isPresent(context) && { context: bytesOf(context) }),
  };
}

/** Returns the `turn` of a write. @throws {FrameError} if it is not a number. */
export function turnOf(wire: unknown): number | undefined {
  const turn = listOf(wire)[4];
  return turn === undefined ? undefined : numberOf(turn);
}

function checkOf([key, versionstamp]: readonly unknown[]): StoredCheck {
  return {
    key: keyOf(key),
    versionstamp: versionstamp === null ? null : versionstampOf(versionstamp),
  };
}

function rangeCheckOf([start, versionstamp, end]: readonly unknown[]): RangeCheck {
  return { range: rangeOf([start, end]), versionstamp: versionstampOf(versionstamp) };
}

function versionstampOf(wire: unknown): string {
  const versionstamp = textOf(wire);
  if (!/^[0-9a-f]{20}$/.test(versionstamp)) throw malformed();
  return versionstamp;
}

function mutationOf(wire: unknown): StoredMutation {
  const [type, wireKey, ...rest] = listOf(wire);
  const key = writableKeyOf(wireKey);
  switch (type) {
    case "set": {
      const [value, expireAt, endsInVersionstamp] = rest;
      return {
        type,
        key,
        value: bytesOf(value),
        ...(isPresent(expireAt) && { expireAt: numberOf(expireAt) }),
        ...(endsInVersionstamp === true && { endsInVersionstamp }),
      };
    }
    case "delete":
      return { type, key };
    case "deleteExpired": {
      const [hintKey, dueAt] = rest;
      if (!isPresent(hintKey)) return { type, key };
      return { type, key, hint: { key: writableKeyOf(hintKey), dueAt: numberOf(dueAt) } };
    }
    case "sum":
    case "min":
    case "max": {
      const [operand] = rest;
      const isU64 = typeof operand === "bigint" && operand >= 0n && operand < 1n << 64n;
      if (!isU64 && typeof operand !== "number") throw malformed();
      return { type, key, operand: BigInt(operand) };
    }
    default:
      throw malformed();
  }
}

export function wireRange({ start, end }: KeyRange): unknown[] {
  return [start, end];
}

/** @throws {FrameError} if the message is not a range. */
export function rangeOf(wire: unknown): KeyRange {
  const [start, wireEnd] = listOf(wire);
  const end = bytesOf(wireEnd);
  return {
    start: bytesOf(start),
    end: compareBytes(end, afterEntries) < 0 ? end : afterEntries,
  };
}

/** @throws {FrameError} if a part of a message is not a list. */
export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed();
  return value;
}

/** @throws {FrameError} if a part of a message is not the key of an entry. */
export function keyOf(value: unknown): Uint8Array {
  const key = bytesOf(value);
  const isEntry = compareBytes(key, firstSystemKey) >= 0 && compareBytes(key, afterEntries) < 0;
  if (!isEntry) throw malformed();
  return key;
}

/**
 * The key of an entry that a client may write. Among the database's own entries, these are the
 * hints of expiry, the messages of queues, and the positions and leases of consumers.
 */
function writableKeyOf(value: unknown): Uint8Array {
  const key = keyOf(value);
  if (key[0] === 0 && key[1]! > lastWritableTag && !isConsumerKey(key)) throw malformed();
  return key;
}

/** @throws {FrameError} if a part of a message is not a byte string. */
export function bytesOf(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw malformed();
  return plainBytes(value);
}

/** @throws {FrameError} if a part of a message is not a number. */
export function numberOf(value: unknown): number {
  if (typeof value !== "number" || Number.isNaN(value)) throw malformed();
  return value;
}

/** @throws {FrameError} if a part of a message is not a string. */
function textOf(value: unknown): string {
  if (typeof value !== "string") throw malformed();
  return value;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function malformed(): FrameError {
  return new FrameError("a message is not one of the protocol");
}
