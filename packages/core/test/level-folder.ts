import { appendFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { crc32c } from "../src/bytes/crc32c.js";
import { encodeKey } from "../src/index.js";
import { withFolder } from "./temporary-folder.js";

export type BytesLevel = ClassicLevel<Uint8Array, Uint8Array>;

/** Runs a body with the folder of a LevelDB database that has been written and closed. */
export async function withLevel<T>(
  write: (level: BytesLevel) => Promise<void>,
  body: (folder: string) => Promise<T>,
): Promise<T> {
  return await withFolder(async (folder) => {
    const level = openLevel(folder);
    await level.open();
    await write(level);
    await level.close();
    return await body(folder);
  });
}

export function openLevel(folder: string): BytesLevel {
  return new ClassicLevel(folder, { keyEncoding: "view", valueEncoding: "view" });
}

/** Puts rows, every second of which can be compressed, and moves them to a table. */
export async function putRows(level: BytesLevel, count: number, from = 0): Promise<void> {
  const batch = level.batch();
  for (let n = from; n < from + count; n++) batch.put(rowKey(n), rowValue(n));
  await batch.write();
  await level.compactRange(rowKey(0), rowKey(from + count));
}

export function rowKey(n: number): Uint8Array {
  return encodeKey(["row", n]);
}

function rowValue(n: number): Uint8Array {
  return Uint8Array.from({ length: 200 }, (_, i) =>
    n % 2 === 0 ? 7 : (n * 31 + i * i * 17) & 255,
  );
}

/** Returns the contents of the files with an ending, by name and in order. */
export async function filesOf(folder: string, ending: string): Promise<[string, Uint8Array][]> {
  const names = (await readdir(folder)).filter((name) => name.includes(ending)).sort();
  return await Promise.all(
    names.map(
      async (name): Promise<[string, Uint8Array]> => [
        name,
        Uint8Array.from(await readFile(join(folder, name))),
      ],
    ),
  );
}

/** Appends a record to a log or manifest of less than one block, as LevelDB does. */
export async function appendRecord(path: string, record: Uint8Array): Promise<void> {
  const part = Buffer.alloc(7 + record.length);
  part.writeUInt16LE(record.length, 4);
  part[6] = 1;
  part.set(record, 7);
  const crc = crc32c(part, 6, part.length);
  part.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, 0);
  await appendFile(path, part);
}

/**
 * Appends a record to the manifest that states a later sequence number than the logs have, as
 * LevelDB does if it has merged tables since.
 */
export async function stateLaterSequence(folder: string): Promise<void> {
  const manifest = (await readFile(join(folder, "CURRENT"), "utf8")).trim();
  await appendRecord(join(folder, manifest), Uint8Array.of(4, 0xff, 0xff, 0x03));
}
