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
/** The format of a database that keeps a log. Releases that do not know the log refuse it. */
const loggedFormat = 0x02;

/** The order of a database's keys. */
export type DatabaseMode = "specification" | "deno";

const modeBytes: Readonly<Record<DatabaseMode, number>> = { specification: 0x00, deno: 0x01 };

/**
 * Encodes the header that marks a database as Keywright's: a magic word, the format, the mode of
 * its keys and a checksum.
 *
 * @param isLogged true if the database keeps a log of its commits.
 */
export function encodeDatabaseHeader(mode: DatabaseMode, isLogged = false): Uint8Array {
  const header = new Uint8Array(magic.length + 2 + 4);
  header.set(magic);
  header[magic.length] = isLogged ? loggedFormat : databaseFormat;
  header[magic.length + 1] = modeBytes[mode];
  writeChecksum(headerKey, header);
  return header;
}

/**
 * @throws {CorruptionError} if the checksum does not match.
 * @throws {DatabaseFormatError} if the header is not Keywright's, or has an unknown format or mode.
 * @throws {DatabaseModeError} if the database was created in the other mode.
 */
export function verifyDatabaseHeader(header: Uint8Array, expected: DatabaseMode): void {
  if (!hasValidChecksum(headerKey, header)) {
    throw new CorruptionError("its header does not match its checksum", headerKey);
  }
  if (!startsWithBytes(header, magic))
    throw new DatabaseFormatError("its header is not Keywright's");
  const format = header[magic.length];
  const modeByte = header[magic.length + 1];
  if (format !== databaseFormat && format !== loggedFormat)
    throw new DatabaseFormatError(`it has the unknown format ${format}`);
  const mode = (["specification", "deno"] as const).find((each) => modeBytes[each] === modeByte);
  if (mode === undefined) throw new DatabaseFormatError(`it has the unknown mode ${modeByte}`);
  if (mode !== expected) throw new DatabaseModeError(mode);
}
