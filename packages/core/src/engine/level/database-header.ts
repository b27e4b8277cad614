import { startsWithBytes } from "../../bytes/compare-bytes.js";
import {
  CorruptionError,
  DatabaseFormatError,
  DatabaseModeError,
} from "../../errors/core-errors.js";
import { hasValidChecksum, writeChecksum } from "./record.js";
import { headerKey } from "./reserved-keys.js";

const magic = new TextEncoder().encode("keywright");
const databaseFormat = 0x01;

/** How the keys of a database are ordered: as the specification's list of part types has it, or as Deno KV does. */
export type DatabaseMode = "specification" | "deno";

const modeBytes: Readonly<Record<DatabaseMode, number>> = { specification: 0x00, deno: 0x01 };

/** What makes a LevelDB database Keywright's: a magic word, the format, the mode of its keys, and a checksum. */
export function encodeDatabaseHeader(mode: DatabaseMode): Uint8Array {
  const header = new Uint8Array(magic.length + 2 + 4);
  header.set(magic);
  header[magic.length] = databaseFormat;
  header[magic.length + 1] = modeBytes[mode];
  writeChecksum(headerKey, header);
  return header;
}

/**
 * @throws {CorruptionError} where the checksum does not match.
 * @throws {DatabaseFormatError} for what is no header of Keywright's, or for another format.
 * @throws {DatabaseModeError} where the database was made in another mode.
 */
export function verifyDatabaseHeader(header: Uint8Array, expected: DatabaseMode): void {
  if (!hasValidChecksum(headerKey, header)) {
    throw new CorruptionError("the database header does not match its checksum", headerKey);
  }
  if (!startsWithBytes(header, magic)) throw new DatabaseFormatError("it has another header");
  const format = header[magic.length];
  const modeByte = header[magic.length + 1];
  if (format !== databaseFormat) throw new DatabaseFormatError(`database format ${format}`);
  const mode = (["specification", "deno"] as const).find((each) => modeBytes[each] === modeByte);
  if (mode === undefined) throw new DatabaseFormatError(`database mode ${modeByte}`);
  if (mode !== expected) throw new DatabaseModeError(mode);
}
