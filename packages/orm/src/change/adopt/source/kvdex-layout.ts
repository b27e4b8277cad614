import type { KvKey, KvKeyPart } from "@keywright/core";
import { InvalidArgumentError } from "../../../errors/query-errors.js";
import type { AnyRow } from "../../../model/compiled-model.js";
import { partsOfId } from "../../../model/keys/primary-key.js";
import { assertArgument, oneOf } from "../../../model/shape.js";
import { decode, encode, encoderOf, type KvdexEncoder } from "./kvdex-encoder.js";
import {
  type ExpectedEntry,
  idOfParts,
  type SourceDocument,
  type SourceEntry,
  type SourceLayout,
} from "./source-layout.js";

export interface KvdexOptions {
  /**
   * The major version of kvdex that wrote it. An id of kvdex 3 is one key part, an id of kvdex 4
   * may have several.
   */
  readonly version: 3 | 4;
  /** The name of the collection in the schema, or the path to it if it is nested. */
  readonly collection: string | readonly string[];
  /** The prefix of the keys of all collections. `["__kvdex__"]` by default. */
  readonly basePath?: KvKey;
  /** The `indices` option of the collection. */
  readonly indices?: Readonly<Record<string, "primary" | "secondary">>;
  /**
   * The `encoder` option of the collection, if it has one: `"json"` or `"v8"` for kvdex's own
   * encoders without a compressor, otherwise the same object that the collection was built with.
   */
  readonly encoder?: "json" | "v8" | KvdexEncoder;
}

/** The stored value of an encoded document: the numbers of the segments that hold its bytes. */
interface EncodedEntry {
  readonly ids: readonly KvKeyPart[];
  readonly isUint8Array: boolean;
}

/**
 * Returns the layout of a collection of kvdex 3 or 4 (`src/collection.ts` and `src/utils.ts` in its
 * release 3.2.1, the same files in `src/core` in 4.0.0).
 *
 * - `["__kvdex__", collection, "__id__", id]`: the document
 * - `["__kvdex__", collection, "__index_primary__", field, bytes]`: a copy, with the id as `__id__`
 * - `["__kvdex__", collection, "__index_secondary__", field, bytes, id]`: a copy
 * - `["__kvdex__", collection, "__segment__", id, 0]` and so on: the pieces of an encoded document
 *
 * `bytes` is the encoded value of the field. If documents are encoded, the first three hold the
 * numbers of the segments instead of the document. History and undelivered messages are not
 * adopted, but counted.
 *
 * @throws {InvalidArgumentError} if the version is a different one.
 */
export function kvdexLayout(options: KvdexOptions): SourceLayout {
  const { version, collection, basePath = ["__kvdex__"], indices = {}, encoder } = options;
  assertArgument("", "version", version, oneOf([3, 4], "3 or 4"), "kvdexLayout");
  const path = typeof collection === "string" ? [collection] : collection;
  const base: KvKey = [...basePath, ...path];
  const rows: KvKey = [...base, "__id__"];
  const primary: KvKey = [...base, "__index_primary__"];
  const secondary: KvKey = [...base, "__index_secondary__"];
  const kinds = Object.entries(indices);
  // A collection without an encoder encodes the values of its indices as JSON.
  const keyEncoder = encoderOf(encoder ?? "json");
  return {
    rows,
    indexes: kinds.map(([field, kind]) => [...(kind === "primary" ? primary : secondary), field]),
    leaves: [
      {
        kind: "history entries",
        prefix: [...basePath, "__history__", ...path],
      },
      {
        kind: "segments of history entries",
        prefix: [...basePath, "__history__", "__segment__", ...path],
      },
      { kind: "undelivered messages", prefix: [...basePath, "__undelivered__", ...path] },
      ...[primary, secondary].map((prefix) => ({
        kind: "entries of indices that the layout does not name",
        prefix,
        except: kinds.map(([field]) => [...prefix, field]),
      })),
    ],
    idOf: (key) => {
      const parts = key.slice(rows.length);
      return version === 3 && parts.length !== 1 ? undefined : idOfParts(parts);
    },
    readValue: async ({ value }, id, reader) => {
      const encoded = encodedEntry(value);
      if (encoder === undefined) {
        if (encoded === undefined) return value;
        const reason = `the documents of ${path.join(".")} are encoded: it has to say how`;
        throw new InvalidArgumentError("", "encoder", reason, "kvdexLayout");
      }
      if (encoded === undefined) throw new Error("It is not encoded.");
      const keys = encoded.ids.map((part) => [...base, "__segment__", ...partsOfId(id), part]);
      const bytes = joinSegments(await reader.getMany(keys));
      return await decode(encoderOf(encoder), bytes, encoded.isUint8Array);
    },
    entriesOf: async (document) => {
      const row = document.value as AnyRow;
      const expected: ExpectedEntry[] = [];
      for (const [field, kind] of kinds) {
        if (row[field] === undefined) continue;
        const part = await encode(keyEncoder, row[field]);
        const entry = kind === "primary" ? primaryEntry : secondaryEntry;
        expected.push(
          ...entry([...(kind === "primary" ? primary : secondary), field, part], document),
        );
      }
      return expected;
    },
    ownerOf: ({ key, value }) => {
      if (key[primary.length - 1] !== "__index_primary__") {
        return idOfParts(key.slice(secondary.length + 2));
      }
      return typeof value === "object" && value !== null && "__id__" in value
        ? (value.__id__ as KvKeyPart)
        : undefined;
    },
  };
}

function primaryEntry(key: KvKey, { id, entry }: SourceDocument): ExpectedEntry[] {
  return [{ key, value: { ...(entry.value as object), __id__: id } }];
}

/** Returns the secondary entry. Kvdex writes none if the id is false, zero or an empty string. */
function secondaryEntry(key: KvKey, { id, entry }: SourceDocument): ExpectedEntry[] {
  return id ? [{ key: [...key, ...partsOfId(id)], value: entry.value }] : [];
}

function encodedEntry(value: unknown): EncodedEntry | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 2) {
    return undefined;
  }
  const { ids, isUint8Array } = value as Partial<EncodedEntry>;
  return Array.isArray(ids) && typeof isUint8Array === "boolean"
    ? { ids, isUint8Array }
    : undefined;
}

function joinSegments(segments: readonly (SourceEntry | undefined)[]): Uint8Array {
  const parts = segments.map((segment, position) => {
    if (segment?.value instanceof Uint8Array) return segment.value;
    throw new Error(`Its segment ${position} is missing.`);
  });
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
