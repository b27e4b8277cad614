import { deserialize, serialize } from "node:v8";
import { jsonOf, reviveTagged, valueOfJson } from "./kvdex-json.js";

/** Converts values to bytes and back. Encoders of kvdex have this shape. */
export interface KvdexEncoder {
  readonly serializer: {
    serialize(value: unknown): Uint8Array | Promise<Uint8Array>;
    deserialize(bytes: Uint8Array): unknown;
  };
  readonly compressor?:
    | {
        compress(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
        decompress(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
      }
    | undefined;
}

/** The same as kvdex's `jsonEncoder()`, without a compressor. */
const json: KvdexEncoder = {
  serializer: {
    serialize: (value) => new TextEncoder().encode(jsonOf(value)),
    deserialize: (bytes) => valueOfJson(new TextDecoder().decode(bytes)),
  },
};

/** The same as kvdex's `v8Encoder()`, without a compressor. */
const v8: KvdexEncoder = {
  serializer: {
    serialize: (value) => new Uint8Array(serialize(value)),
    deserialize: (bytes) => reviveTagged(deserialize(bytes), ["__dataview__"]),
  },
};

export function encoderOf(encoder: "json" | "v8" | KvdexEncoder): KvdexEncoder {
  if (encoder === "json") return json;
  return encoder === "v8" ? v8 : encoder;
}

export async function encode(
  { serializer, compressor }: KvdexEncoder,
  value: unknown,
): Promise<Uint8Array> {
  const bytes = await serializer.serialize(value);
  return compressor === undefined ? bytes : await compressor.compress(bytes);
}

/** @param isUint8Array true if the value is a `Uint8Array`. Kvdex does not serialize it. */
export async function decode(
  { serializer, compressor }: KvdexEncoder,
  bytes: Uint8Array,
  isUint8Array: boolean,
): Promise<unknown> {
  const plain = compressor === undefined ? bytes : await compressor.decompress(bytes);
  return isUint8Array ? plain : await serializer.deserialize(plain);
}
