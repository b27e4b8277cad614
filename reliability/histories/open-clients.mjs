import { openKv } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { createDatabase } from "@keywright/orm";
import { postgresEngine } from "@keywright/postgres";
import { openDatabase } from "../shared/open-database.mjs";
import { transactionFaults, withUnknownOutcomes } from "./faulty-transactions.mjs";
import { models } from "./transaction-calls.mjs";

/**
 * Opens a database several times.
 *
 * @param where where it is, as data that can be sent to another process. `path`, `etcd` or
 * `postgres` says in which engine. Without one it is in memory. `deadlines` are those of the
 * connections, and `fault` is the name of a planted fault.
 * @returns the databases with the models, and `close`.
 */
export async function openClients(where, connections) {
  const kvs = [];
  const close = async () => {
    for (const kv of kvs) await kv.close();
  };
  try {
    for (let i = 0; i < connections; i++) kvs.push(await open(where, i));
    return { dbs: await Promise.all(kvs.map((kv) => createDatabase({ kv, models }))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function open({ path, etcd, postgres, deadlines = [], fault }, number) {
  const deadline = deadlines[number % deadlines.length];
  const kv =
    path !== undefined
      ? await openDatabase(path, { durability: "relaxed" })
      : etcd !== undefined
        ? await openKv(await etcdEngine({ ...etcd, deadline }))
        : postgres !== undefined
          ? await openKv(await postgresEngine({ ...postgres, deadline }))
          : await openKv();
  if (fault === "unknown outcomes") return withUnknownOutcomes(kv);
  return fault === undefined ? kv : transactionFaults[fault](kv);
}
