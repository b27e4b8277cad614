import { Buffer } from "node:buffer";
import { deserialize, Serializer, serialize } from "node:v8";
import { KvU64 } from "@keywright/core";
import { ValueEncoding } from "./generated/datapath_pb.js";

/** A value as it is sent. */
export interface SentValue {
  readonly data: Uint8Array;
  readonly encoding: ValueEncoding;
}

/** Writes typed arrays as V8 does. That of Node.js writes them in a format of its own. */
class PlainSerializer extends Serializer {
  constructor() {
    super();
    this._setTreatArrayBufferViewsAsHostObjects(false);
  }

  /** Node.js calls it. It is missing in the types. */
  declare _setTreatArrayBufferViewsAsHostObjects: (isHostObject: boolean) => void;
}

export function sentValue(value: unknown): SentValue {
  if (value instanceof KvU64) {
    const data = Buffer.alloc(8);
    data.writeBigUInt64LE(value.value);
    return { data, encoding: ValueEncoding.VE_LE64 };
  }
  if (value instanceof Uint8Array) return { data: value, encoding: ValueEncoding.VE_BYTES };
  const serializer = new PlainSerializer();
  serializer.writeHeader();
  serializer.writeValue(value);
  return { data: serializer.releaseBuffer(), encoding: ValueEncoding.VE_V8 };
}

/** @throws {TypeError} if the bytes are not a value. */
export function valueFrom({ data, encoding }: SentValue): unknown {
  switch (encoding) {
    case ValueEncoding.VE_LE64:
      if (data.length !== 8) throw new TypeError("A 64-bit integer must have 8 bytes.");
      return new KvU64(Buffer.from(data).readBigUInt64LE());
    case ValueEncoding.VE_BYTES:
      return new Uint8Array(data);
    case ValueEncoding.VE_V8:
      return valueOfV8(data);
    default:
      throw new TypeError("A value has no known encoding.");
  }
}

/** The version of the format that the V8 of this process writes. */
const ownVersion = serialize(0)[1] ?? 0;
const version15 = 15;
const version16 = 16;

/**
 * Returns bytes that this process can read. Version 16 of the format differs from version 15 only
 * in buffers of more than 4 GiB.
 */
function readable(data: Uint8Array): Uint8Array {
  if (data[0] !== 0xff || data[1] !== version16 || ownVersion >= version16) return data;
  const copy = data.slice();
  copy[1] = version15;
  return copy;
}

/** @throws {TypeError} if the bytes are not a value that V8 has written. */
export function valueOfV8(data: Uint8Array): unknown {
  try {
    return deserialize(readable(data));
  } catch (cause) {
    throw new TypeError("A value is not in the format of V8, or in a later version of it.", {
      cause,
    });
  }
}
