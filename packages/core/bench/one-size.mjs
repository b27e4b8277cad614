// Measures one database in a process that does nothing else, and sends the figures to its parent.
import { openKv } from "@keywright/core";
import { compare } from "./compare.mjs";
import {
  commitsPerCall,
  createRows,
  entriesPerList,
  freshNumbers,
  getRow,
  listRows,
  randomRowKeys,
} from "./workload.mjs";

const { path, rows, effort } = JSON.parse(process.argv[2]);
const keys = randomRowKeys(rows);
const before = residentBytes();
const kv = await openKv(path, { durability: "relaxed" });
try {
  const { get } = await compare({ get: getRow(kv, keys) }, effort);
  const { list } = await compare({ list: listRows(kv, keys) }, effort, entriesPerList);
  const create = createRows(kv, freshNumbers(rows));
  const { commit } = await compare({ commit: create }, effort, commitsPerCall);
  process.send({ get, list, commit, memory: residentBytes() - before });
} finally {
  await kv.close();
  process.disconnect();
}

/** Returns the resident memory of the process in bytes, after a garbage collection. */
function residentBytes() {
  globalThis.gc();
  return process.memoryUsage.rss();
}
