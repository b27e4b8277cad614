import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { openKv, repairDatabase } from "@keywright/core";
import { crc32c } from "../../packages/core/dist/bytes/crc32c.js";
import { ByteReader } from "../../packages/core/dist/engine/level/files/byte-reader.js";
import { readDatabaseFiles } from "../../packages/core/dist/engine/level/files/database-files.js";
import {
  blockEntries,
  readHandle,
  readHandlesOf,
} from "../../packages/core/dist/engine/level/files/table-block.js";
import { tableDamage } from "../../packages/core/dist/engine/level/files/table-damage.js";

const blockBytes = 32 * 1024;
const footerBytes = 48;

/** The files of a LevelDB database, as the check of files and the repair read them. */
export async function openFileDecoders() {
  const root = await mkdtemp(join(tmpdir(), "keywright-hostile-"));
  const folder = join(root, "kv");
  await fill(folder);
  const files = new Map();
  for (const name of await readdir(folder)) files.set(name, await readFile(join(folder, name)));
  const isOf = (pattern) => [...files.keys()].find((name) => pattern.test(name));
  const table = files.get(isOf(/\.ldb$/));
  const log = isOf(/\.log$/);
  const others = [isOf(/^MANIFEST/), log, "CURRENT", "keywright.closed"];
  return [
    {
      name: "tables",
      weight: 4,
      seeds: [table],
      seal: sealTable,
      decode: (bytes) => tableDamage("000005.ldb", bytes),
    },
    {
      name: "blocks of tables",
      weight: 4,
      seeds: blocksOf(table),
      // The callers report a RangeError as damage.
      isRefusal: isOwnRangeError,
      decode: (bytes) => [...blockEntries(bytes, { offset: 0, size: bytes.length - 1 })],
    },
    ...others.map((name) => ({
      name: `the file ${name}`,
      weight: 0.02,
      seeds: [files.get(name)],
      seal: seals.get(name) ?? sealLog,
      decode: async (bytes) => {
        await writeFile(join(folder, name), bytes);
        try {
          await readDatabaseFiles(folder);
        } finally {
          await writeFile(join(folder, name), files.get(name));
        }
      },
    })),
    {
      name: "logs that are repaired",
      weight: 0.004,
      seeds: [files.get(log)],
      seal: sealLog,
      decode: async (bytes) => {
        const copy = join(root, "copy");
        await rm(copy, { recursive: true, force: true });
        await cp(folder, copy, { recursive: true });
        await writeFile(join(copy, log), bytes);
        await repairDatabase(copy, { inPlace: true });
      },
      close: () => rm(root, { recursive: true, force: true }),
    },
  ];
}

const seals = new Map([
  ["CURRENT", (bytes) => bytes],
  ["keywright.closed", sealClosedMark],
]);

/** Gives the text of the note of a closed database a valid checksum. */
function sealClosedMark(bytes) {
  const text = Buffer.from(bytes).toString("latin1").trimEnd().split(" ")[1] ?? "";
  return Buffer.from(`${crc32(Buffer.from(text)).toString(16).padStart(8, "0")} ${text}\n`);
}

/** Makes a database with a table of several blocks and a log. */
async function fill(folder) {
  for (const round of [1, 2]) {
    const kv = await openKv(folder, { durability: "relaxed" });
    for (let i = 0; i < 60; i++) await kv.set(["users", round, i], { name: "name ".repeat(i) });
    await kv.close();
  }
}

/** Returns the blocks of a table, each with its type byte. */
function blocksOf(table) {
  const index = indexOf(table);
  return readHandlesOf(table, index).map(({ offset, size }) =>
    table.subarray(offset, offset + size + 1),
  );
}

/** Returns the place of the index of a table, which its footer states. */
function indexOf(table) {
  const footer = new ByteReader(table, table.length - footerBytes);
  readHandle(footer);
  return readHandle(footer);
}

/** An error that the reader itself throws, and not the runtime. */
function isOwnRangeError(error) {
  return error instanceof RangeError && !/Invalid|Maximum|outside the bounds/.test(error.message);
}

/** Gives each record of a log or manifest that is as long as it says a valid checksum. */
function sealLog(bytes) {
  const sealed = Buffer.from(bytes);
  for (let position = 0; position + 7 <= sealed.length; ) {
    const left = blockBytes - (position % blockBytes);
    const end = position + 7 + sealed.readUInt16LE(position + 4);
    if (left < 7) position += left;
    else if (end > sealed.length || end > position + left) break;
    else {
      sealed.writeUInt32LE(maskedChecksum(sealed, position + 6, end), position);
      position = end;
    }
  }
  return sealed;
}

/** Gives the index of a table, if its footer states it, a valid checksum. */
function sealTable(bytes) {
  const sealed = Buffer.from(bytes);
  const end = sealed.length - footerBytes - 4;
  if (end < 0) return sealed;
  try {
    const { offset } = indexOf(sealed);
    if (offset < end) sealed.writeUInt32LE(maskedChecksum(sealed, offset, end), end);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return sealed;
}

function maskedChecksum(bytes, start, end) {
  const crc = crc32c(bytes, start, end);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
