import { crc32 } from "node:zlib";
import {
  decodeKey,
  decodeValue,
  denoOrder,
  encodeKey,
  encodeValue,
  KvU64,
  openKv,
  specificationOrder,
} from "@keywright/core";
import {
  decodeCommitRecord,
  encodeCommitRecord,
} from "../../packages/core/dist/engine/level/commit-record.js";
import {
  encodeDatabaseHeader,
  verifyDatabaseHeader,
} from "../../packages/core/dist/engine/level/database-header.js";
import {
  decodeRecord,
  encodeRecord,
  recordSize,
} from "../../packages/core/dist/engine/level/record.js";
import { headerKey } from "../../packages/core/dist/engine/level/reserved-keys.js";
import { decodeHintKey } from "../../packages/core/dist/kv/expiry/expiry-hint.js";
import {
  decodeQueuedMessage,
  encodeQueuedMessage,
} from "../../packages/core/dist/kv/queue/queued-message.js";
import { decodeRecord as decodeEtcdRecord } from "../../packages/etcd/dist/record/entry-record.js";
import { assertSame } from "./assert-same.mjs";

const keys = [
  ["users", "ada"],
  ["a\0b", "", "ü€𝄞", "\ufffd"],
  [0, -1.5, Number.NaN, Number.POSITIVE_INFINITY, -0],
  [0n, 1n, -1n, 2n ** 64n, -(2n ** 80n), 10n ** 300n],
  [true, false, new Uint8Array(0), new Uint8Array([0, 255, 0, 0])],
];
const cycle = { name: "cycle", list: [] };
cycle.list.push(cycle);
const values = [
  null,
  "text",
  "\ud800",
  -0,
  12345.678,
  2n ** 63n,
  -(10n ** 40n),
  { id: 1, name: "Ada", tags: ["a", "b"], nested: { at: new Date(0) } },
  [1, undefined, null, true, new Uint8Array([1, 2, 3])],
  Object.assign([1], { 5: 2 }),
  new Map([["a", new Set([1, "b"])]]),
  cycle,
  /a+b/gi,
  new TypeError("wrong", { cause: "a cause" }),
  new DOMException("stopped", "AbortError"),
  Object("boxed"),
  new Float64Array([1, 2]),
  new DataView(new ArrayBuffer(5), 1, 2),
  JSON.parse('{"__proto__": 1}'),
  new KvU64(7n),
  Array.from({ length: 300 }, (_, i) => i),
];
const entryKey = encodeKey(["users", "ada"]);
const versionstamp = "00000000000000010002";

/** What core reads from a disk, a server or a caller. */
export function coreDecoders() {
  const encodedKeys = (order) => keys.map((key) => encodeKey(key, order));
  return [
    keyDecoder("keys", specificationOrder, encodedKeys(specificationOrder)),
    keyDecoder("keys in Deno's order", denoOrder, encodedKeys(denoOrder)),
    { name: "values", weight: 8, seeds: values.map(encodeValue), decode: decodeAndEncode },
    {
      name: "records",
      weight: 2,
      seeds: values.flatMap((value) => [recordOf(value, undefined), recordOf(value, 1e12)]),
      seal: (bytes) => withChecksum(entryKey, bytes),
      decode: (bytes) => {
        const entry = decodeRecord(entryKey, bytes);
        if (!Number.isSafeInteger(entry.expireAt ?? 0)) return;
        const again = new Uint8Array(recordSize(entry));
        encodeRecord(entry, again);
        assertSame(again, bytes);
      },
    },
    {
      name: "commit records",
      weight: 1,
      seeds: [commitRecord.value],
      seal: (bytes) => withChecksum(commitRecord.key, bytes),
      decode: (bytes) => {
        const record = decodeCommitRecord(commitRecord.key, bytes);
        const again = encodeCommitRecord(record).value;
        // The last versionstamp is part of the key too, and so of the checksum.
        assertSame(again.subarray(0, -4), bytes.subarray(0, -4));
      },
    },
    {
      name: "headers",
      weight: 1,
      seeds: [encodeDatabaseHeader("specification")],
      seal: (bytes) => withChecksum(headerKey, bytes),
      decode: (bytes) => verifyDatabaseHeader(bytes, "specification"),
    },
    {
      name: "messages",
      weight: 2,
      seeds: [[], [100, 1000]].map((backoffSchedule) =>
        encodeQueuedMessage({
          payload: encodeValue("message"),
          backoffSchedule,
          keysIfUndelivered: [entryKey],
          failures: 1,
          isInDelivery: false,
        }),
      ),
      decode: (bytes) => decodeQueuedMessage({ key: entryKey, value: bytes }),
    },
    {
      name: "hints",
      weight: 1,
      seeds: [Buffer.concat([Buffer.from("000300000000000003e8", "hex"), entryKey])],
      decode: (bytes) => decodeHintKey(bytes),
    },
    {
      name: "records of etcd",
      weight: 1,
      seeds: ["0100010000018000000000", "01ffff00000000000000070000018000000000"].map((head) =>
        withChecksum(entryKey, Buffer.from(`${head}${"00".repeat(9)}`, "hex")),
      ),
      seal: (bytes) => withChecksum(entryKey, bytes),
      decode: (bytes) => decodeEtcdRecord(entryKey, { value: Buffer.from(bytes), modRevision: 7 }),
    },
  ];
}

/** The cursors of lists. */
export async function openCursorDecoders() {
  const decoders = [];
  for (const compat of [undefined, "deno"]) {
    const kv = await openKv(":memory:", { compat });
    for (const key of keys) await kv.set(["all", ...key], 1);
    const seeds = [];
    const iterator = kv.list({ prefix: ["all"] });
    for await (const _entry of iterator) seeds.push(Buffer.from(iterator.cursor));
    decoders.push({
      name: compat === undefined ? "cursors" : "cursors in Deno's mode",
      weight: 1,
      seeds,
      decode: async (bytes) => {
        const cursor = Buffer.from(bytes).toString("latin1");
        for await (const _entry of kv.list({ prefix: ["all"] }, { cursor }));
      },
      close: () => kv.close(),
    });
  }
  return decoders;
}

const commitRecord = encodeCommitRecord({
  last: versionstamp,
  previous: "00000000000000000001",
  mutations: 3,
});

function keyDecoder(name, order, seeds) {
  return {
    name,
    weight: 4,
    seeds,
    decode: (bytes) => {
      const key = decodeKey(bytes, order);
      if (key.length > 0) assertSame(encodeKey(key, order), bytes);
    },
  };
}

function decodeAndEncode(bytes) {
  const again = encodeValue(decodeValue(bytes));
  assertSame(encodeValue(decodeValue(again)), again);
}

function recordOf(value, expireAt) {
  const entry = { key: entryKey, value: encodeValue(value), versionstamp, expireAt };
  const record = new Uint8Array(recordSize(entry));
  encodeRecord(entry, record);
  return record;
}

/** Returns bytes whose last four are the CRC-32 of a key and of the bytes before them. */
function withChecksum(key, bytes) {
  const sealed = Buffer.from(bytes);
  const end = sealed.length - 4;
  if (end >= 0) sealed.writeUInt32BE(crc32(sealed.subarray(0, end), crc32(key)), end);
  return sealed;
}
