import fc from "fast-check";
import type { KvKeyPart } from "../src/keys/key.js";

const edgeByte: fc.Arbitrary<number> = fc.oneof(fc.constantFrom(0, 1, 0xfe, 0xff), fc.nat(255));

const bytesPart: fc.Arbitrary<Uint8Array> = fc
  .array(edgeByte, { maxLength: 6 })
  .map((bytes) => Uint8Array.from(bytes));

const stringPart: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("", "\0", "a", "a\0", "a\0b", "b", "\u{ffff}", "\u{10000}"),
  fc.string({ unit: "binary", maxLength: 6 }),
);

const numberPart: fc.Arbitrary<number> = fc.oneof(
  // Not -NaN, because a runtime may lose its sign between two reads. The golden keys have it.
  fc.constantFrom(Number.NaN, -0, 0, 1, -1, 0.5, Infinity, -Infinity),
  fc.double().map((value) => (Number.isNaN(value) ? Number.NaN : value)),
);

/**
 * Bigints around the sizes at which the encoding changes: whole bytes, 8, 254, 255 and 256 bytes.
 */
const bigintPart: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -300n, max: 300n }),
  fc
    .record({
      bytes: fc.constantFrom(1n, 2n, 4n, 7n, 8n, 9n, 16n, 254n, 255n, 256n),
      offset: fc.bigInt({ min: -2n, max: 2n }),
      negative: fc.boolean(),
    })
    .map(({ bytes, offset, negative }) => {
      const magnitude = (1n << (bytes * 8n)) + offset;
      return negative ? -magnitude : magnitude;
    }),
  fc.bigInt(),
);

export const keyPart: fc.Arbitrary<KvKeyPart> = fc.oneof(
  bytesPart,
  stringPart,
  numberPart,
  bigintPart,
  fc.boolean(),
);

export const key: fc.Arbitrary<KvKeyPart[]> = fc.array(keyPart, { maxLength: 4 });

type KeyPair = [KvKeyPart[], KvKeyPart[]];

/** Two keys that often have parts in common, so that the later ones decide. */
export const relatedKeys: fc.Arbitrary<KeyPair> = fc.oneof(
  fc.tuple(key, key),
  fc.tuple(key, key, key).map(
    ([shared, a, b]): KeyPair => [
      [...shared, ...a],
      [...shared, ...b],
    ],
  ),
  fc.tuple(key, key).map(([shared, rest]): KeyPair => [shared, [...shared, ...rest]]),
);
