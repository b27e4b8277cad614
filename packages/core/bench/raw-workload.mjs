// The same work on LevelDB alone, with the same bytes that Keywright stores. Keys are encoded
// before the measurement. What is read is decoded. No record is verified, and no commit is checked.
import { decodeKey, decodeValue, encodeKey, encodeValue } from "@keywright/core";
import { entriesOf } from "./rows.mjs";
import { entriesPerList, firstHalf, perCall } from "./workload.mjs";

/** Bytes of a record before and after its value: `docs/internals/commit-protocol.md`. */
const beforeValue = 11;
const afterValue = 4;

export function getRawRow(level, keys) {
  const encoded = keys.map(bytesOf);
  let next = 0;
  return () => decodeRecord(level.getSync(encoded[next++ % encoded.length]));
}

export function listRawRows(level, keys) {
  const starts = firstHalf(keys).map(bytesOf);
  const lt = Buffer.concat([bytesOf(["users"]), Uint8Array.of(0xff)]);
  let next = 0;
  return async () => {
    const gte = starts[next++ % starts.length];
    // Reads all entries in one call. The default limit of 16 KiB would need nine.
    const iterator = level.iterator({ gte, lt, highWaterMarkBytes: 1024 * 1024 });
    const entries = await iterator.nextv(entriesPerList);
    await iterator.close();
    return entries.map(([key, record]) => [decodeKey(key), decodeRecord(record)]);
  };
}

/** Creates rows with batches of three puts: a row and its index entries. */
export function createRawRows(level, numbers) {
  const puts = () =>
    entriesOf(numbers.next()).map(([key, value]) => ({
      type: "put",
      key: bytesOf(key),
      value: recordOf(value),
    }));
  return perCall(puts, (batch) => level.batch(batch));
}

function bytesOf(key) {
  return Buffer.from(encodeKey(key));
}

function recordOf(value) {
  return Buffer.concat([Buffer.alloc(beforeValue), encodeValue(value), Buffer.alloc(afterValue)]);
}

function decodeRecord(record) {
  const size = record.length - beforeValue - afterValue;
  return decodeValue(new Uint8Array(record.buffer, record.byteOffset + beforeValue, size));
}
