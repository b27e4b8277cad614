// The databases that are compared, with the same rows in them.
import { openKv as openDenoKv } from "@deno/kv";
import { openKv } from "@keywright/core";
import { ClassicLevel } from "classic-level";
import { entriesOf } from "./rows.mjs";

/** The bounds of all keys: inclusive, exclusive. */
const everything = [Uint8Array.of(0x00), Uint8Array.of(0xff)];

async function openRaw(path) {
  const level = new ClassicLevel(path, { keyEncoding: "view", valueEncoding: "view" });
  await level.open();
  return level;
}

/**
 * Makes a Keywright database with `rows` rows. Its files are compacted, so that no work of the
 * loading is left.
 */
export async function makeKeywright(path, rows) {
  const kv = await openKv(path, { durability: "relaxed" });
  await load(kv, rows, 1000);
  await kv.close();
  const level = await openRaw(path);
  await level.compactRange(...everything);
  await level.close();
}

/** Makes a LevelDB database with the bytes of another one. */
export async function copyRaw(path, from) {
  const [source, copy] = await Promise.all([openRaw(from), openRaw(path)]);
  const batch = [];
  for await (const [key, value] of source.iterator()) {
    batch.push({ type: "put", key, value });
    if (batch.length === 5000) await copy.batch(batch.splice(0));
  }
  await copy.batch(batch);
  await Promise.all([source.close(), copy.compactRange(...everything)]);
  return copy;
}

/** Makes a database of real Deno KV on SQLite. It accepts 1,000 mutations in a commit. */
export async function makeDeno(path, rows) {
  const kv = await openDenoKv(path);
  await load(kv, rows, 300);
  return kv;
}

async function load(kv, rows, rowsPerCommit) {
  for (let first = 0; first < rows; first += rowsPerCommit) {
    const operation = kv.atomic();
    for (let number = first; number < Math.min(first + rowsPerCommit, rows); number++)
      for (const [key, value] of entriesOf(number)) operation.set(key, value);
    await operation.commit();
  }
}
