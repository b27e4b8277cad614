import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import type { StoredEntry } from "@keywright/core";
import type { ServedDatabase } from "@keywright/core/serve";
import { RequestError } from "../http/request-error.js";
import { decodeMessage } from "./decode-message.js";
import {
  type KvEntry,
  KvEntrySchema,
  type ReadRange,
  type ReadRangeOutput,
  ReadRangeOutputSchema,
  SnapshotReadOutputSchema,
  SnapshotReadSchema,
  SnapshotReadStatus,
} from "./generated/datapath_pb.js";
import { readRanges } from "./read-ranges.js";
import { sentValue } from "./values.js";

/** For how long the entries of an answer are encoded before other requests get their turn. */
const sliceMilliseconds = 5;
const maxRanges = 100;
const maxEntries = 1000;
/** The longest key and the largest value of Deno KV, and the rest of an entry. */
const mostEntryBytes = 2048 + 65_536 + 64;
const firstEntryKey = Uint8Array.of(0x01);
const afterEntries = Uint8Array.of(0xff);

/** True if a key may be that of an entry. */
export function isEntryKey(key: Uint8Array): boolean {
  return key.length > 0 && key[0]! >= firstEntryKey[0]! && key[0]! < afterEntries[0]!;
}

/** Returns the most bytes that the answer to a read of this many entries has. */
export function mostBytes(entries: number): number {
  return entries * mostEntryBytes;
}

/** Reads ranges of keys, all from one snapshot if the engine can, and always if they are keys. */
export async function snapshotRead(
  { engine }: ServedDatabase,
  ranges: readonly ReadRange[],
): Promise<Uint8Array> {
  const entries = ranges.every(isKey)
    ? (await engine.getMany(ranges.map(({ start }) => start))).map((entry) =>
        entry === undefined ? [] : [entry],
      )
    : await readRanges(
        engine,
        ranges.map(({ start, end, limit, reverse }) => ({ range: { start, end }, limit, reverse })),
      );
  const sent: ReadRangeOutput[] = [];
  let end = performance.now() + sliceMilliseconds;
  for (const found of entries) {
    const values: KvEntry[] = [];
    for (const entry of found) {
      values.push(sentEntry(entry));
      if (performance.now() < end) continue;
      await setImmediate();
      end = performance.now() + sliceMilliseconds;
    }
    sent.push(create(ReadRangeOutputSchema, { values }));
  }
  const output = create(SnapshotReadOutputSchema, {
    ranges: sent,
    readIsStronglyConsistent: true,
    status: SnapshotReadStatus.SR_SUCCESS,
  });
  return toBinary(SnapshotReadOutputSchema, output);
}

/** @throws {RequestError} if clients could not read the value. */
export function sentEntry(entry: StoredEntry): KvEntry {
  const { data, encoding } = sentValue(entry);
  return create(KvEntrySchema, {
    key: entry.key,
    value: data,
    encoding,
    versionstamp: Buffer.from(entry.versionstamp, "hex"),
  });
}

/**
 * Returns the ranges that a client asks for.
 *
 * @throws {RequestError} if the message cannot be decoded, or asks for too much.
 */
export function readOf(body: Uint8Array): readonly ReadRange[] {
  const { ranges } = decodeMessage(SnapshotReadSchema, body);
  if (ranges.length > maxRanges)
    throw new RequestError(400, `A request can read at most ${maxRanges} ranges.`);
  const entries = ranges.reduce((sum, { limit }) => sum + limit, 0);
  if (entries > maxEntries || ranges.some(({ limit }) => limit < 1))
    throw new RequestError(
      400,
      `A request can read at most ${maxEntries} entries, and each range at least 1.`,
    );
  for (const range of ranges) {
    // Other keys belong to the database, and the range of all entries may begin and end among them.
    if (range.start[0] === 0) range.start = firstEntryKey;
    if (range.end[0] === afterEntries[0]) range.end = afterEntries;
  }
  return ranges;
}

/** True if the range is that of one key, as `get` sends it: its end is the key and a zero byte. */
function isKey({ start, end, limit }: ReadRange): boolean {
  return (
    limit === 1 &&
    isEntryKey(start) &&
    end.length === start.length + 1 &&
    end.at(-1) === 0 &&
    Buffer.compare(start, end.subarray(0, -1)) === 0
  );
}
