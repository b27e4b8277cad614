import { Buffer } from "node:buffer";
import { inspect } from "node:util";
import { deserialize, Serializer, serialize } from "node:v8";
import { decodeKey, decodeValue, KvU64, type StoredEntry } from "@keywright/core";
import { denoOrder, nodesOfValue } from "@keywright/core/serve";
import { RequestError } from "../http/request-error.js";
import { checkV8, V8Budget } from "./check-v8.js";
import { ValueEncoding } from "./generated/datapath_pb.js";

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

/** The classes of the owner's values that V8's format does not have, by their nodes. */
const unsendableNodes = [
  ["blob", "a Blob"],
  ["file", "a File"],
  ["exception", "a DOMException"],
] as const;

/**
 * Returns an owner's value as clients read it.
 *
 * @throws {RequestError} if clients could not read the value. The status is not one of those after
 * which Deno repeats a request forever.
 */
export function sentValue({ key, value: encoded }: Pick<StoredEntry, "key" | "value">): SentValue {
  let value: unknown;
  try {
    value = decodeValue(encoded);
  } catch {
    throw unsendable(key, "its bytes are not a value that this server can read");
  }
  if (value instanceof KvU64) {
    const data = Buffer.alloc(8);
    data.writeBigUInt64LE(value.value);
    return { data, encoding: ValueEncoding.VE_LE64 };
  }
  if (value instanceof Uint8Array) return { data: value, encoding: ValueEncoding.VE_BYTES };
  const nodes = nodesOfValue(encoded);
  for (const [node, name] of unsendableNodes)
    if (nodes?.has(node)) throw unsendable(key, `it has ${name}`);
  return { data: serialized(key, value, nodes === undefined), encoding: ValueEncoding.VE_V8 };
}

/** @param isPlain true if the value is one that V8 always reads back. */
function serialized(key: Uint8Array, value: unknown, isPlain: boolean): Uint8Array {
  try {
    const serializer = new PlainSerializer();
    serializer.writeHeader();
    serializer.writeValue(value);
    const data = serializer.releaseBuffer();
    if (isPlain) return data;
    checkV8(data, new V8Budget());
    // V8 also writes what it cannot read, such as an error that is its own cause.
    deserialize(data);
    return data;
  } catch {
    throw unsendable(key, "it is nested too deeply, or V8 cannot read what it writes of it");
  }
}

function unsendable(key: Uint8Array, reason: string): RequestError {
  let name = "";
  try {
    name = ` of ${inspect(decodeKey(key, denoOrder), { maxStringLength: 100 })}`;
  } catch {}
  return new RequestError(422, `KV Connect cannot send the value${name}: ${reason}.`);
}

/** @throws {TypeError} if the bytes are not a value that can be read back. */
export function valueFrom({ data, encoding }: SentValue, budget: V8Budget): unknown {
  switch (encoding) {
    case ValueEncoding.VE_LE64:
      if (data.length !== 8) throw new TypeError("A 64-bit integer must have 8 bytes.");
      return new KvU64(Buffer.from(data).readBigUInt64LE());
    case ValueEncoding.VE_BYTES:
      return new Uint8Array(data);
    case ValueEncoding.VE_V8:
      return valueOfV8(data, budget);
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

/** @throws {TypeError} if the bytes are not a value of V8 that can be read back. */
export function valueOfV8(data: Uint8Array, budget: V8Budget): unknown {
  checkV8(data, budget);
  try {
    return deserialize(readable(data));
  } catch (cause) {
    throw new TypeError("A value is not in the format of V8, or in a later version of it.", {
      cause,
    });
  }
}
