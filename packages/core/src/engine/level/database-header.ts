import { startsWithBytes } from "../../bytes/compare-bytes.js";
import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import { hasValidChecksum, writeChecksum } from "./record.js";
import { headerKey } from "./reserved-keys.js";

const magic = new TextEncoder().encode("keywright");
const databaseFormat = 0x01;
/** Keys are ordered as the specification's list of part types has them. */
const keyOrderMode = 0x00;

/** What makes a LevelDB database Keywright's: a magic word, the format, the mode of its keys, and a checksum. */
export function encodeDatabaseHeader(): Uint8Array {
  const header = new Uint8Array(magic.length + 2 + 4);
  header.set(magic);
  header[magic.length] = databaseFormat;
  header[magic.length + 1] = keyOrderMode;
  writeChecksum(headerKey, header);
  return header;
}

/**
 * @throws {CorruptionError} where the checksum does not match.
 * @throws {DatabaseFormatError} for what is no header of Keywright's, or for another format or mode.
 */
export function verifyDatabaseHeader(header: Uint8Array): void {
  if (!hasValidChecksum(headerKey, header)) {
    throw new CorruptionError("the database header does not match its checksum", headerKey);
  }
  if (!startsWithBytes(header, magic)) throw new DatabaseFormatError("it has another header");
  const format = header[magic.length];
  const mode = header[magic.length + 1];
  if (format !== databaseFormat) throw new DatabaseFormatError(`database format ${format}`);
  if (mode !== keyOrderMode) throw new DatabaseFormatError(`database mode ${mode}`);
}
