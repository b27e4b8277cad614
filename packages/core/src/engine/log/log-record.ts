import { Buffer } from "#platform";
import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import { appendVersionstampPart } from "../../keys/encode-key.js";
import {
  readVersionstamp,
  versionstampBytes,
  writeVersionstamp,
} from "../../values/versionstamp.js";

const recordFormat = 1;

/**
 * How a commit has changed an entry. `"expire"` is the removal of an expired entry. `"sum"`,
 * `"min"` and `"max"` occur only on engines that do not report the result. Other engines log the
 * result as a `"set"`.
 */
export type LoggedChangeType = "set" | "delete" | "expire" | "sum" | "min" | "max";

/** By number: the type as a record stores it. The key of the last one ends in the versionstamp. */
const types = ["set", "delete", "expire", "sum", "min", "max", "setAtVersionstamp"] as const;

/** A value that the log keeps, as an engine stores it. */
export interface LoggedValue {
  readonly value: Uint8Array;
  readonly versionstamp: string;
  /** Milliseconds since the epoch. */
  readonly expireAt: number | undefined;
}

/** What one commit has changed under one key. */
export interface LoggedChange {
  readonly type: LoggedChangeType;
  readonly key: Uint8Array;
  /** Null if there was no entry, or if it had expired and was still stored. */
  readonly before: LoggedValue | null;
  /** Null unless the type is `"set"`. */
  readonly after: LoggedValue | null;
  /** Of `"sum"`, `"min"` and `"max"`, whose `before` and `after` are null. */
  readonly operand?: bigint | undefined;
}

/** A change as it is encoded. */
export interface ChangeToLog extends Omit<LoggedChange, "after" | "type"> {
  readonly type: (typeof types)[number];
  readonly after: Omit<LoggedValue, "versionstamp"> | null;
}

/** All that the log keeps of one commit. */
export interface LogRecord {
  readonly versionstamp: string;
  /** The time of the commit by the clock of its process, in milliseconds since the epoch. */
  readonly time: number;
  /** What the program said about the commit, as an encoded value. */
  readonly context?: Uint8Array | undefined;
  /** Each key once, in the order of their first changes. */
  readonly changes: readonly LoggedChange[];
}

/** The bits of the first byte of a change, above those of its type. */
const flag = { before: 0x08, beforeExpires: 0x10, after: 0x20, afterExpires: 0x40 } as const;
const typeBits = 0x07;
const timeBytes = 8;
/**
 * The most bytes of a length: 7 bits in each, the lowest first, with the high bit in all but one.
 */
const lengthBytes = 5;
/** The most bytes of a change without its key and values. An operand takes less than a value. */
const changeBytes = 1 + 3 * lengthBytes + versionstampBytes + 2 * timeBytes;

const noContext = new Uint8Array();

/**
 * Encodes a record: a format byte, the time (8 bytes), the length and bytes of the context (no
 * bytes if there is none), and the changes. A change is a byte of its
 * type and of {@link flag}, the length of its key and the key, the versionstamp, expiry time,
 * length and bytes of the value before, and the expiry time, length and bytes of the value after. A
 * sum, minimum or maximum has its operand (8 bytes) instead. Times are in milliseconds since the
 * epoch. Integers are big-endian, except lengths.
 */
export function encodeLogRecord(
  time: number,
  changes: readonly ChangeToLog[],
  context: Uint8Array = noContext,
): Uint8Array {
  let most = 1 + timeBytes + lengthBytes + context.length;
  for (const { key, before, after } of changes)
    most += changeBytes + key.length + (before?.value.length ?? 0) + (after?.value.length ?? 0);
  const record = Buffer.allocUnsafe(most);
  record[0] = recordFormat;
  let offset = writeBytes(context, record, record.writeBigUInt64BE(BigInt(time), 1));
  for (const change of changes) offset = writeChange(change, record, offset);
  return new Uint8Array(record.buffer, record.byteOffset, offset);
}

function writeChange(change: ChangeToLog, record: Buffer, start: number): number {
  const { type, key, before, after, operand } = change;
  let bits = types.indexOf(type);
  let offset = writeBytes(key, record, start + 1);
  if (before !== null) {
    bits |= flag.before;
    writeVersionstamp(before.versionstamp, record, offset);
    offset += versionstampBytes;
    if (before.expireAt !== undefined) {
      bits |= flag.beforeExpires;
      offset = record.writeBigUInt64BE(BigInt(before.expireAt), offset);
    }
    offset = writeBytes(before.value, record, offset);
  }
  if (after !== null) {
    bits |= flag.after;
    if (after.expireAt !== undefined) {
      bits |= flag.afterExpires;
      offset = record.writeBigUInt64BE(BigInt(after.expireAt), offset);
    }
    offset = writeBytes(after.value, record, offset);
  }
  if (operand !== undefined) offset = record.writeBigUInt64BE(operand, offset);
  record[start] = bits;
  return offset;
}

function writeBytes(bytes: Uint8Array, record: Buffer, start: number): number {
  let offset = start;
  let rest = bytes.length;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) record[offset++] = (rest & 0x7f) | 0x80;
  record[offset++] = rest;
  record.set(bytes, offset);
  return offset + bytes.length;
}

/**
 * Decodes a record. Its keys and values are views of `bytes`.
 *
 * @throws {CorruptionError} if the bytes are not a record.
 * @throws {DatabaseFormatError} if the record has a later format.
 */
export function decodeLogRecord(versionstamp: string, bytes: Uint8Array): LogRecord {
  if (bytes[0] !== recordFormat)
    throw new DatabaseFormatError(`a record of the log has the unknown format ${bytes[0]}`);
  const reader = new RecordReader(bytes);
  const time = Number(reader.u64());
  const context = reader.bytes();
  const changes: LoggedChange[] = [];
  while (!reader.isAtEnd) changes.push(readChange(reader, versionstamp));
  return { versionstamp, time, changes, ...(context.length > 0 && { context }) };
}

function readChange(reader: RecordReader, versionstamp: string): LoggedChange {
  const bits = reader.byte();
  const type = types[bits & typeBits];
  if (type === undefined) throw damaged();
  const key = reader.bytes();
  const isStamped = type === "setAtVersionstamp";
  const time = (expires: number) => ((bits & expires) === 0 ? undefined : Number(reader.u64()));
  const hasBefore = (bits & flag.before) !== 0;
  return {
    type: isStamped ? "set" : type,
    key: isStamped ? appendVersionstampPart(key, versionstamp) : key,
    before: hasBefore ? readValue(reader, reader.versionstamp(), time(flag.beforeExpires)) : null,
    after:
      (bits & flag.after) === 0 ? null : readValue(reader, versionstamp, time(flag.afterExpires)),
    ...(isCombination(type) && { operand: reader.u64() }),
  };
}

function readValue(
  reader: RecordReader,
  versionstamp: string,
  expireAt: number | undefined,
): LoggedValue {
  return { versionstamp, expireAt, value: reader.bytes() };
}

function isCombination(type: (typeof types)[number]): boolean {
  return type === "sum" || type === "min" || type === "max";
}

/** Reads the parts of a record after its format byte. */
class RecordReader {
  readonly #record: Buffer;
  #offset = 1;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.#record = Buffer.from(buffer, byteOffset, length);
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#record.length;
  }

  byte(): number {
    return this.#record[this.#next(1)]!;
  }

  u64(): bigint {
    return this.#record.readBigUInt64BE(this.#next(8));
  }

  versionstamp(): string {
    return readVersionstamp(this.#record, this.#next(versionstampBytes));
  }

  bytes(): Uint8Array {
    const length = this.#length();
    const { buffer, byteOffset } = this.#record;
    return new Uint8Array(buffer, byteOffset + this.#next(length), length);
  }

  #length(): number {
    let length = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.byte();
      length += (byte & 0x7f) * factor;
      if (byte < 0x80) return length;
    }
  }

  /** Returns the offset of the next bytes, and passes over them. */
  #next(length: number): number {
    const offset = this.#offset;
    this.#offset += length;
    if (this.#offset > this.#record.length) throw damaged();
    return offset;
  }
}

function damaged(): CorruptionError {
  return new CorruptionError("a record of the log is not readable");
}
