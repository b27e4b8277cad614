import { Buffer } from "node:buffer";
import { appendVersionstampPart } from "@keywright/core/engine";
import type {
  Compare,
  KeyValue,
  RequestOp,
  ResponseOp,
  TxnRequest,
} from "../client/etcd-messages.js";
import { encodeRecord, recordBounds } from "../record/entry-record.js";
import type { KeySpace } from "../record/key-space.js";
import { firstReservedPosition, formatStamp, parseStamp, type Stamp } from "../record/stamp.js";
import type { KeyChange } from "./apply-writes.js";
import { nestOperations } from "./nested-operations.js";
import type { PendingWrite } from "./pending-write.js";

/** Returns the comparisons that hold exactly if all checks of a write hold at the time `now`. */
export function comparesOf({ write }: PendingWrite, keys: KeySpace, now: number): Compare[] {
  return write.checks.flatMap(({ key: entryKey, versionstamp }): Compare[] => {
    const key = keys.keyOf(entryKey);
    if (versionstamp === null) return [hasRevision(key, 0)];
    const stamp = parseStamp(versionstamp);
    const { above, below } = recordBounds(stamp, now);
    const bounds: Compare[] = [
      { key, target: "VALUE", result: "GREATER", value: above },
      { key, target: "VALUE", result: "LESS", value: below },
    ];
    // The record itself has a reserved revision. etcd has stored it at a later one.
    const isReserved = stamp.position >= firstReservedPosition;
    return isReserved ? bounds : [hasRevision(key, stamp.revision), ...bounds];
  });
}

/** Returns the comparison with the revision at which a key was last written, 0 if it is absent. */
export function hasRevision(key: Buffer, modRevision: number): Compare {
  return { key, target: "MOD", result: "EQUAL", modRevision };
}

/** Returns the result that etcd has for comparisons of single keys with the stored state. */
export function holds(
  compares: readonly Compare[],
  stored: ReadonlyMap<string, KeyValue>,
): boolean {
  return compares.every((compare) => {
    if ("rangeEnd" in compare) return true;
    const entry = stored.get(Buffer.from(compare.key).toString("latin1"));
    if (compare.target === "MOD") return (entry?.modRevision ?? 0) === compare.modRevision;
    if (entry === undefined) return false;
    const order = Buffer.compare(entry.value, compare.value);
    return compare.result === "GREATER" ? order > 0 : order < 0;
  });
}

/**
 * Returns the operations that store changes.
 *
 * @param stampOf returns the versionstamp of a write. Its revision is not used if it is not
 * reserved.
 */
export function operationsOf(
  changes: readonly KeyChange[],
  keys: KeySpace,
  stampOf: (write: PendingWrite) => Stamp,
): RequestOp[] {
  const operations = changes.map((change): RequestOp => {
    const { value, expireAt, by } = change;
    if (value === undefined) return { requestDeleteRange: { key: keys.keyOf(change.key) } };
    const stamp = stampOf(by);
    const key = changedKey(change, stamp);
    const record = encodeRecord(key, value, { stamp, expireAt });
    return { requestPut: { key: keys.keyOf(key), value: record } };
  });
  return nestOperations(operations);
}

/** Returns the key of an entry, with the versionstamp of its write if it ends in it. */
export function changedKey({ key, endsInVersionstamp }: KeyChange, stamp: Stamp): Uint8Array {
  return endsInVersionstamp ? appendVersionstampPart(key, formatStamp(stamp)) : key;
}

/** A transaction of a batch. It is applied, or answers what its checks may have failed on. */
export interface BatchTransaction {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  /** The keys that are read if a comparison fails. */
  readonly readOnFailure: readonly Buffer[];
}

export function requestOf({ compare, success, readOnFailure }: BatchTransaction): TxnRequest {
  return { compare, success, failure: readOnFailure.map((key) => ({ requestRange: { key } })) };
}

/** The answer of etcd to a transaction of a batch. */
export interface TransactionResult {
  readonly succeeded: boolean;
  /** The stored entries of `readOnFailure`, if it has not succeeded. */
  readonly found: readonly KeyValue[];
}

export function resultOf({ responseTxn }: ResponseOp): TransactionResult {
  const { succeeded, responses } = responseTxn!;
  const found = succeeded ? [] : responses.flatMap((each) => each.responseRange?.kvs ?? []);
  return { succeeded, found };
}
