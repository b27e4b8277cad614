// The databases that are compared, with the same rows in them.
import { openKv as openDenoKv } from "@deno/kv";
import { openKv } from "@keywright/core";
import { ClassicLevel } from "classic-level";
import { entriesOf } from "./rows.mjs";

/** All keys there can be: inclusive, exclusive. */
const everything = [Uint8Array.of(0x00), Uint8Array.of(0xff)];

async function openRaw(path) {
  const level = new ClassicLevel(path, { keyEncoding: "view", valueEncoding: "view" });
  await level.open();
  return level;
}

/** Makes a Keywright database of so many rows, its files compacted: nothing is left to be done from the loading. */
export async function makeKeywright(path, rows) {
  const kv = await openKv(path, { durability: "relaxed" });
  await load(kv, rows, 1000);
  await kv.close();
  const level = await openRaw(path);
  await level.compactRange(...everything);
  await level.close();
}

/** A LevelDB database with the very bytes of another one. */
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

/** Real Deno KV on SQLite, with so many rows. It takes a thousand mutations a commit. */
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
