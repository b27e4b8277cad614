import { compareBytes } from "../../bytes/compare-bytes.js";
import type { KeyRange } from "../../keys/key-range.js";
import { decodeValue } from "../../values/decode-value.js";
import { encodeValue } from "../../values/encode-value.js";
import type { AtomicWrite, Engine, StoredMutation } from "../engine.js";
import { firstSystemKey } from "../system-keys.js";

/**
 * The keys under which the owner of a database stores the ids of commits of its clients: the tag,
 * the id of the client, and the position of the commit in its group. The value is the number of the
 * group. The id and the commit are one atomic write. After a crash, the id therefore exists exactly
 * if the commit was applied.
 */
const tag = Uint8Array.of(0x00, 0x06);
const end = Uint8Array.of(0x00, 0x07);
export const clientIdBytes = 16;
/** Milliseconds after which the ids of a client that is not connected may be deleted. */
export const forgetAfter = 60_000;
const maxPosition = 0xffff;

function keyOf(clientId: Uint8Array, position: number): Uint8Array {
  const key = new Uint8Array(tag.length + clientIdBytes + 2);
  key.set(tag);
  key.set(clientId, tag.length);
  key[key.length - 2] = position >>> 8;
  key[key.length - 1] = position & 0xff;
  return key;
}

/** Adds the id to a write, which is the one at a position of a numbered group of a client. */
export function withCommitId(
  write: AtomicWrite,
  clientId: Uint8Array,
  group: number,
  position: number,
): AtomicWrite {
  if (position > maxPosition) throw new RangeError("A group has too many commits.");
  const id: StoredMutation = {
    type: "set",
    key: keyOf(clientId, position),
    value: encodeValue(group),
  };
  return { ...write, mutations: [...write.mutations, id] };
}

/** Returns the part of a client's range before the ids, if the range begins before them. */
export function withoutCommitIds({ start, end: rangeEnd }: KeyRange): KeyRange {
  const isBefore = compareBytes(start, firstSystemKey) >= 0 && compareBytes(start, end) < 0;
  return { start, end: isBefore && compareBytes(rangeEnd, tag) > 0 ? tag : rangeEnd };
}

/** Returns the versionstamp of a commit if it was applied, and otherwise undefined. */
export async function appliedVersionstamp(
  engine: Engine,
  clientId: Uint8Array,
  group: number,
  position: number,
): Promise<string | undefined> {
  const entry = await engine.get(keyOf(clientId, position));
  return entry !== undefined && decodeValue(entry.value) === group ? entry.versionstamp : undefined;
}

/** Deletes the stored ids of clients. */
export async function forgetClients(
  engine: Engine,
  commit: (write: AtomicWrite) => Promise<unknown>,
  isForgotten: (clientId: Uint8Array) => boolean,
): Promise<void> {
  let start = tag;
  for (;;) {
    const entries = await engine.getRange({ range: { start, end }, limit: 500, reverse: false });
    const keys = entries.map(({ key }) => key);
    const last = keys.at(-1);
    const mutations = keys
      .filter((key) => isForgotten(key.subarray(tag.length, tag.length + clientIdBytes)))
      .map((key) => ({ type: "delete", key }) as const);
    if (mutations.length > 0) await commit({ checks: [], mutations, sync: false });
    if (last === undefined || entries.length < 500) return;
    start = Uint8Array.of(...last, 0);
  }
}
