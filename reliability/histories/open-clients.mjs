import { openKv } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { createDatabase } from "@keywright/orm";
import { postgresEngine } from "@keywright/postgres";
import { openDatabase } from "../shared/open-database.mjs";
import { transactionFaults, withUnknownOutcomes } from "./faulty-transactions.mjs";
import { models } from "./transaction-calls.mjs";

/**
 * Opens a database several times. Without a fault, the first connection makes a row that expires and
 * deletes it before the others open. The others learn that rows of a model may expire only when they
 * read its catalog again, and until then their counts may include rows that have expired.
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
    const [first] = await openNext(where, kvs, 1);
    if (where.fault === undefined) {
      await first.tasks.create({ data: { id: "0", list: "", n: 0 }, expireIn: 60_000 });
      await first.tasks.delete({ where: { id: "0" } });
    }
    return { dbs: [first, ...(await openNext(where, kvs, connections - 1))], close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openNext(where, kvs, count) {
  const opened = [];
  for (let i = 0; i < count; i++) {
    const kv = await open(where, kvs.length);
    kvs.push(kv);
    opened.push(kv);
  }
  return await Promise.all(opened.map((kv) => createDatabase({ kv, models })));
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
