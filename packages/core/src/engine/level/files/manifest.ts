import { ByteReader } from "./byte-reader.js";
import type { TableBounds } from "./table-damage.js";

const keyTrailerBytes = 8;

/** The files of a database, as its manifest states them. */
export interface Manifest {
  /** The number of the oldest log that has commits which are in no table. 0 if there is none. */
  readonly logNumber: number;
  /** The last sequence number that LevelDB had used when it last added or removed tables. */
  readonly lastSequence: number;
  readonly tables: ReadonlyMap<number, TableBounds>;
}

/**
 * Reads the records of a manifest. Each adds and removes tables.
 *
 * @throws {RangeError} if a record is malformed.
 */
export function readManifest(records: readonly Uint8Array[]): Manifest {
  const tables = new Map<number, TableBounds>();
  let logNumber = 0;
  let lastSequence = 0;
  for (const record of records) {
    const reader = new ByteReader(record);
    const added: [number, TableBounds][] = [];
    while (!reader.isAtEnd) {
      const tag = reader.varint();
      if (tag === 1) reader.lengthPrefixed();
      else if (tag === 2) logNumber = reader.varint();
      else if (tag === 4) lastSequence = reader.varint();
      else if (tag === 3 || tag === 9) reader.varint();
      else if (tag === 5) {
        reader.varint();
        reader.lengthPrefixed();
      } else if (tag === 6) {
        reader.varint();
        tables.delete(reader.varint());
      } else if (tag === 7) {
        reader.varint();
        const number = reader.varint();
        const size = reader.varint();
        added.push([number, { size, firstKey: userKey(reader), lastKey: userKey(reader) }]);
      } else throw new RangeError(`a record has the unknown tag ${tag}`);
    }
    // A table that moves to another level is deleted and added in one record.
    for (const [number, bounds] of added) tables.set(number, bounds);
  }
  return { logNumber, lastSequence, tables };
}

function userKey(reader: ByteReader): Uint8Array {
  return reader.lengthPrefixed().slice(0, -keyTrailerBytes);
}
