// Compares Keywright with LevelDB alone, real Deno KV and other encodings of keys.
import { join } from "node:path";
import { encodeKey, openKv } from "@keywright/core";
import tuple from "fdb-tuple";
import { toBufferKey } from "ordered-binary";
import { compare } from "./compare.mjs";
import { createRawRows, getRawRow, listRawRows } from "./raw-workload.mjs";
import { copyRaw, makeDeno, makeKeywright } from "./stores.mjs";
import {
  commitsPerCall,
  createRows,
  entriesPerList,
  freshNumbers,
  getRow,
  listRows,
  randomRowKeys,
  updateRows,
} from "./workload.mjs";

/**
 * @returns for each operation the nanoseconds of Keywright (`ours`) and of the other (`theirs`),
 * how
 *   many times as fast Keywright is, and the goal of this ratio.
 */
export async function measureRatios(folder, effort, rows = 10_000) {
  const path = join(folder, "keywright");
  await makeKeywright(path, rows);
  const raw = await copyRaw(join(folder, "raw"), path);
  const deno = await makeDeno(join(folder, "deno.sqlite"), rows);
  const full = await openKv(path);
  const relaxed = await openKv(path, { durability: "relaxed" });
  try {
    const keys = randomRowKeys(rows);
    const numbers = freshNumbers(rows);
    const gets = await compare(
      { ours: getRow(full, keys), raw: getRawRow(raw, keys), deno: getRow(deno, keys) },
      effort,
    );
    const lists = await compare(
      { ours: listRows(full, keys), raw: listRawRows(raw, keys) },
      effort,
      entriesPerList,
    );
    const syncedCommits = await compare(
      { ours: createRows(full, numbers), deno: createRows(deno, numbers) },
      effort,
      commitsPerCall,
    );
    const relaxedCommits = await compare(
      { ours: createRows(relaxed, numbers), raw: createRawRows(raw, numbers) },
      effort,
      commitsPerCall,
    );
    const updates = await compare(
      { ours: await updateRows(full, rows), deno: await updateRows(deno, rows) },
      effort,
      commitsPerCall,
    );
    const encodings = await compare(
      {
        ours: encode(keys, encodeKey),
        orderedBinary: encode(keys, toBufferKey),
        fdbTuple: encode(keys, tuple.pack),
      },
      effort,
    );
    return [
      result("`get`", "LevelDB, `getSync` and decoding", gets.ours, gets.raw, 0.5),
      result("`get`", "`@deno/kv`, `get`", gets.ours, gets.deno, 30),
      result(
        "commit that creates a row, `full`",
        "`@deno/kv`, the same commit",
        syncedCommits.ours,
        syncedCommits.deno,
        6,
      ),
      result(
        "commit that updates a row, `full`",
        "`@deno/kv`, the same commit",
        updates.ours,
        updates.deno,
        6,
      ),
      result(
        "commit that creates a row, `relaxed`",
        "LevelDB, a batch of the same puts",
        relaxedCommits.ours,
        relaxedCommits.raw,
        0.5,
      ),
      result("`list`, per entry", "LevelDB, `nextv` and decoding", lists.ours, lists.raw, 0.5),
      result(
        "`encodeKey`",
        "`ordered-binary`, `toBufferKey`",
        encodings.ours,
        encodings.orderedBinary,
        1,
      ),
      result("`encodeKey`", "`fdb-tuple`, `pack`", encodings.ours, encodings.fdbTuple, 1),
    ];
  } finally {
    deno.close();
    await Promise.all([full.close(), relaxed.close(), raw.close()]);
  }
}

function encode(keys, encoder) {
  let next = 0;
  return () => encoder(keys[next++ % keys.length]);
}

function result(operation, against, ours, theirs, goal) {
  return { operation, against, ours, theirs, ratio: theirs / ours, goal };
}
