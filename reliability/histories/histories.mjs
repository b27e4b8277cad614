import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { lmdbEngine } from "@keywright/lmdb";
import { startOwner } from "../attached/kill-owner.mjs";
import { Random } from "../shared/random.mjs";
import { checkHistory } from "./check-history.mjs";
import { checkTransactions } from "./check-transactions.mjs";
import { recordHistory } from "./record-history.mjs";
import { recordTransactions } from "./record-transactions.mjs";

/** The databases whose histories are recorded. */
export const databases = {
  "in memory": () => openKv(),
  "in Deno's mode": () => openKv(":memory:", { compat: "deno" }),
  "on LevelDB": openOnDisk,
};

/** The databases on which transactions are recorded, and how large a part of their histories. */
export const transactionDatabases = {
  "in memory": { open: () => openKv(), part: 0.5 },
  "on LevelDB": { open: openOnDisk, part: 0.5 },
  "on LMDB": { open: openOnLmdb, part: 0.1 },
  "in an attached process": { open: openAttached, part: 0.1 },
};

async function openOnDisk() {
  return await inFolder((folder) => openKv(folder, { durability: "relaxed" }));
}

async function openOnLmdb() {
  return await inFolder(async (folder) => {
    const path = join(folder, "kv.mdb");
    return await openKv(await lmdbEngine({ path }), { durability: "relaxed" });
  });
}

async function openAttached() {
  let owner;
  const end = async () => {
    owner.kill();
    await once(owner, "exit");
  };
  return await inFolder(async (folder) => {
    const path = join(folder, "kv");
    owner = await startOwner(path);
    return await openKv(path, { durability: "relaxed" });
  }, end);
}

async function inFolder(open, end = async () => undefined) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-history-"));
  const kv = await open(folder);
  const close = kv.close.bind(kv);
  kv.close = async () => {
    await close();
    await end();
    await rm(folder, { recursive: true });
  };
  return kv;
}

/**
 * Records a history of a new database and checks it.
 *
 * @param open opens the database.
 * @param seed determines what the clients do, but not in which order their calls end.
 * @returns the number of calls, and what is wrong.
 */
export async function checkNewHistory(open, seed) {
  const random = new Random(seed);
  const kv = await open();
  try {
    const size = { clients: 2 + random.below(15), calls: 10 + random.below(40) };
    const history = await recordHistory(kv, { random, ...size });
    return { calls: size.clients * size.calls, problems: checkHistory(history) };
  } finally {
    await kv.close();
  }
}

/**
 * Records a history of transactions on a new database and checks it.
 *
 * @returns the number of transactions, and what `checkTransactions` returns.
 */
export async function checkNewTransactions(open, seed) {
  const random = new Random(seed);
  const kv = await open();
  try {
    const size = { clients: 2 + random.below(15), transactions: 3 + random.below(10) };
    const expires = random.below(2) === 0;
    const history = await recordTransactions(kv, { random, expires, ...size });
    return { transactions: history.length, ...checkTransactions(history) };
  } finally {
    await kv.close();
  }
}
