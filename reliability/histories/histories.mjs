import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { Random } from "../shared/random.mjs";
import { checkHistory } from "./check-history.mjs";
import { checkTransactions } from "./check-transactions.mjs";
import { ClientProcess } from "./client-process.mjs";
import { openClients } from "./open-clients.mjs";
import { recordHistory } from "./record-history.mjs";
import { now, recordEnd, recordTransactions } from "./record-transactions.mjs";

/** The databases whose histories are recorded. */
export const databases = {
  "in memory": () => openKv(),
  "in Deno's mode": () => openKv(":memory:", { compat: "deno" }),
  "on LevelDB": openOnDisk,
};

async function openOnDisk() {
  const folder = await mkdtemp(join(tmpdir(), "keywright-history-"));
  const kv = await openKv(folder, { durability: "relaxed" });
  const close = kv.close.bind(kv);
  kv.close = async () => {
    await close();
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
 * Starts a place, and calls a function with what records and checks a history there.
 *
 * @param run is called with a function that has a seed and returns what `checkNewTransactions` does.
 */
export async function inPlace({ start, ...place }, run) {
  const worker = place.isShared ? new ClientProcess() : undefined;
  try {
    const started = await start();
    try {
      return await run((seed) => checkNewTransactions({ ...place, ...started, worker }, seed));
    } finally {
      await started.stop();
    }
  } finally {
    await worker?.stop();
  }
}

/**
 * Records a history of transactions on a new database and checks it.
 *
 * @returns the number of transactions, how many of them have an unknown outcome or failed,
 * `interrupted`, which is 1 if the interruption came while one was running, what
 * `checkTransactions` returns, and the history.
 */
async function checkNewTransactions(
  { newDatabase, worker, connections = 1, maxTransactions = 6, expirySlack },
  seed,
) {
  const { where, interrupt, end = async () => undefined } = await newDatabase();
  try {
    const random = new Random(seed);
    const options = {
      transactions: 2 + random.below(maxTransactions - 1),
      maxExpireIn: random.below(2) === 0 ? where.maxExpireIn : 0,
    };
    const clients = 2 + random.below(15);
    const own = worker === undefined ? clients : 1 + random.below(clients - 1);
    const opened = await openClients(where, connections);
    let other;
    try {
      other = await worker?.open(where, connections);
      const interruption = interruptAfter(interrupt, Math.floor((own * options.transactions) / 3));
      const recorded = await Promise.all([
        recordTransactions(opened.dbs, {
          ...options,
          random,
          clients: own,
          onEnd: interruption.onEnd,
        }),
        worker?.record(other, {
          ...options,
          seed: seed + 1_000_000,
          first: own,
          clients: clients - own,
        }) ?? [],
      ]);
      await interruption.ended;
      const history = [...recorded.flat(), await recordEnd(opened.dbs[0], clients)];
      const figures = figuresOf(history, interruption.at);
      return { ...figures, ...checkTransactions(history, expirySlack), history };
    } finally {
      await opened.close();
      if (other !== undefined) await worker.close(other);
    }
  } finally {
    await end();
  }
}

/** Makes an interruption after a number of transactions. */
function interruptAfter(interrupt, count) {
  if (interrupt === undefined) return {};
  const interruption = { at: undefined, onEnd: undefined, ended: undefined };
  let transactions = 0;
  interruption.ended = new Promise((resolve, reject) => {
    interruption.onEnd = () => {
      if (++transactions !== Math.max(count, 1)) return;
      interruption.at = now();
      interrupt().then(resolve, reject);
    };
  });
  // The error is thrown after the history.
  interruption.ended.catch(() => undefined);
  return interruption;
}

function figuresOf(history, interruptedAt) {
  const isInterrupted = ({ start, end }) => start < interruptedAt && interruptedAt < end;
  return {
    transactions: history.length,
    interrupted: history.some(isInterrupted) ? 1 : 0,
    unknown: history.filter(({ isUnknown }) => isUnknown).length,
    failed: history.filter(({ operations }) => operations.length === 0).length,
  };
}
