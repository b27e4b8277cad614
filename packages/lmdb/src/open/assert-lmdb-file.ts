import { Buffer } from "node:buffer";
import { open } from "node:fs/promises";
import { CorruptionError, DatabaseFormatError } from "@keywright/core";
import { pageSize } from "../file/page-size.js";

const headBytes = 56;
const flagsOffset = 18;
const metaFlag = 0x08;
const magicOffset = 24;
const magic = 0xbeefc0de;
const versionOffset = 28;
const version = 2;
const pageSizeOffset = 48;

/**
 * Verifies that a file begins with the two meta pages of LMDB (`MDB_meta` in its `mdb.c`), because
 * `lmdb` ends the process if it opens another file.
 *
 * @throws {DatabaseFormatError} if the file is not LMDB's, or has another format.
 * @throws {CorruptionError} if only one of the pages is there.
 */
export async function assertLmdbFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    const heads = await Promise.all(
      [0, pageSize].map(async (position) => {
        const head = Buffer.alloc(headBytes);
        await handle.read(head, 0, headBytes, position);
        return head;
      }),
    );
    const missing = heads.findIndex((head) => !isMetaPage(head));
    if (missing === -1) return;
    if (!heads.some(isMetaPage)) throw new DatabaseFormatError("it is not a file of this engine");
    throw new CorruptionError(`the page at byte ${missing * pageSize} of its file is overwritten`);
  } finally {
    await handle.close();
  }
}

function isMetaPage(head: Buffer): boolean {
  return (
    (head.readUInt16LE(flagsOffset) & metaFlag) !== 0 &&
    head.readUInt32LE(magicOffset) === magic &&
    head.readUInt16LE(versionOffset) === version &&
    head.readUInt32LE(pageSizeOffset) === pageSize
  );
}
