import { verifyIndexes } from "@keywright/orm/migrate";
import { kindOf, kinds, openOrders, orderOf } from "./orders.mjs";

/**
 * Compares the rows that handlers have written with the orders, after all jobs have ended.
 *
 * @returns what is wrong in words, and how many jobs of the kind `note` ran more than once.
 */
export async function problemsOfOrders(kv, producers, share) {
  const problems = [];
  const db = await openOrders(kv);
  const receipts = new Map();
  for await (const { value } of kv.list({ prefix: ["receipts"] }, { batchSize: 500 })) {
    const name = `${value.kind} ${value.order}`;
    receipts.set(name, (receipts.get(name) ?? 0) + 1);
  }
  const orders = new Set();
  for await (const { key } of kv.list({ prefix: ["orders"] }, { batchSize: 500 }))
    orders.add(orderOf(key[1], key[2]));
  const rows = [...receipts.values()].reduce((sum, count) => sum + count, 0);
  const failed = await failedOrders(db);
  let [repeated, refused] = [0, 0];
  for (let producer = 0; producer < producers; producer++) {
    for (let n = 0; n < share; n++) {
      const [order, kind] = [orderOf(producer, n), kindOf(n)];
      const count = receipts.get(`${kind} ${order}`) ?? 0;
      receipts.delete(`${kind} ${order}`);
      if (!orders.has(order)) problems.push(`lost: order ${order} is not stored`);
      if (kind === "refuse") {
        refused++;
        if (!failed.has(order)) problems.push(`lost: the failed job of order ${order}`);
        if (count > 0) problems.push(`twice: order ${order} was refused, and has a receipt`);
      } else if (count === 0) problems.push(`lost: order ${order} (${kind}) has no receipt`);
      else if (count > 1 && kind === "note") repeated++;
      else if (count > 1) problems.push(`twice: order ${order} has ${count} receipts`);
    }
  }
  for (const name of receipts.keys()) problems.push(`other: ${name} belongs to no order`);

  if ((await db.receipts.count()) !== rows) problems.push("other: receipts are counted wrong");
  for (const kind of kinds) {
    const counts = await db.jobs[kind].counts();
    const expected = {
      waiting: 0,
      delayed: 0,
      running: 0,
      failed: kind === "refuse" ? refused : 0,
    };
    for (const [state, count] of Object.entries(expected))
      if (counts[state] !== count)
        problems.push(`other: ${counts[state]} jobs of ${kind} are ${state}, not ${count}`);
  }
  const { status } = await verifyIndexes(db);
  if (status !== "clean") problems.push(`other: the indexes are ${status}`);
  return { repeated, refused, problems };
}

async function failedOrders(db) {
  const failed = new Set();
  let cursor = null;
  do {
    const page = await db.jobs.refuse.failed({ take: 500, cursor });
    for (const { payload } of page.items) failed.add(payload.order);
    cursor = page.cursor;
  } while (cursor !== null);
  return failed;
}
