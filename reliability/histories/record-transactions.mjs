import { setImmediate as turn } from "node:timers/promises";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const fields = { id: z.string(), list: z.string(), n: z.int() };
const indexes = {
  byList: { key: ["list", "n"] },
  byCounted: { key: ["list", "id"], count: true, sum: ["n"] },
};
const models = {
  tasks: defineModel({
    name: "tasks",
    schema: z.object(fields),
    primaryKey: "id",
    count: true,
    indexes,
  }),
  notes: defineModel({
    name: "notes",
    schema: z.object(fields),
    primaryKey: "id",
    indexes: { ...indexes, byRank: { key: ["list", "n"], ranked: true, sum: ["n"] } },
  }),
};

const lists = ["a", "b", "c"];
const ids = ["1", "2", "3", "4", "5", "6", "7", "8"];

/** The calls of clients. Each makes its operation and returns what the program sees of it. */
const calls = {
  get: async (table, { id }) => plainRow(await table.findUnique({ where: { id } })),
  list: async (table, { list }) =>
    plainRows(await table.findMany({ index: "byList", where: { list } })),
  first: async (table, { list }) =>
    plainRow(await table.findFirst({ index: "byList", where: { list }, orderBy: { n: "asc" } })),
  count: async (table, { list }) => await table.count({ index: "byCounted", where: { list } }),
  countFrom: async (table, { list, n }) =>
    await table.count({ index: "byList", where: { list, n: { gte: n } } }),
  sum: async (table, { list }) =>
    (await table.aggregate({ index: "byCounted", where: { list }, sum: { n: true } })).sum.n,
  ranked: async (table, { list, n }) =>
    await table.count({ index: "byRank", where: { list, n: { gte: n } } }),
  all: async (table) => await table.count(),
  scan: async (table) => plainRows(await table.scan()),
  create: async (table, { id, list, n, expireIn }) => {
    try {
      await table.create({ data: { id, list, n }, ...(expireIn && { expireIn }) });
      return true;
    } catch (error) {
      if (error.code === "KW_UNIQUE_CONSTRAINT") return false;
      throw error;
    }
  },
  move: async (table, { id, list }) =>
    await madeOf(table.update({ where: { id }, data: { list } })),
  add: async (table, { id, n }) =>
    await madeOf(table.update({ where: { id }, data: { n: { increment: n } } })),
  delete: async (table, { id }) => await madeOf(table.delete({ where: { id } })),
  moveList: async (table, { list, to }) =>
    (await table.updateMany({ index: "byList", where: { list }, data: { list: to } })).count,
  addToList: async (table, { list, n }) =>
    (await table.updateMany({ index: "byList", where: { list }, data: { n: { increment: n } } }))
      .count,
  deleteList: async (table, { list }) =>
    (await table.deleteMany({ index: "byList", where: { list } })).count,
};
const reads = ["get", "list", "first", "count", "countFrom", "sum", "scan"];
const writes = ["create", "create", "create", "move", "add", "delete"];
const predicateWrites = ["moveList", "addToList", "deleteList"];

/**
 * Lets clients run transactions and single calls on two models at the same time, and records them.
 *
 * A history is a list of transactions, `{ client, start, end, startedAt, endedAt, operations }`.
 * `start` and `end` are numbers of one counter, the others milliseconds since the epoch. One has
 * ended before another begins if its `end` is less than the other's `start`. An operation is
 * `{ type, model, result }` and what it was called with. An aborted transaction has `isAborted`.
 * Those of the last client read everything in the end.
 *
 * @param kv an empty database.
 * @param random chooses what the clients do.
 */
export async function recordTransactions(kv, { random, clients, transactions, expires }) {
  const db = await createDatabase({ kv, models });
  const history = [];
  let clock = 0;
  let last = 0;

  async function record(client, run) {
    const startedAt = Date.now();
    const start = ++clock;
    const { operations, isAborted } = await run();
    const end = ++clock;
    history.push({ client, start, end, startedAt, endedAt: Date.now(), operations, isAborted });
  }

  async function call(target, operation) {
    const result = await calls[operation.type](target[operation.model], operation);
    return { ...operation, result };
  }

  /** Makes the same calls in each attempt, and keeps those of the one that is committed. */
  async function transaction(planned, aborts, pauses) {
    let operations;
    try {
      await db.transaction(async (tx) => {
        operations = [];
        for (const [i, operation] of planned.entries()) {
          if (pauses[i]) await turn();
          operations.push(await call(tx, operation));
        }
        if (aborts) throw abort;
      });
    } catch (error) {
      if (error !== abort) throw error;
    }
    return { operations, isAborted: aborts };
  }

  async function client(number) {
    for (let i = 0; i < transactions; i++) {
      if (random.below(3) === 0) await turn();
      if (random.below(4) === 0) {
        // A call for several rows is one commit only in a transaction.
        const operation = newOperation(random.pick([...reads, ...writes]));
        await record(number, async () => ({ operations: [await call(db, operation)] }));
        continue;
      }
      const planned = Array.from({ length: 1 + random.below(3) }, () =>
        newOperation(random.pick(reads)),
      );
      if (random.below(4) > 0) planned.push(newOperation(random.pick(writes)));
      if (random.below(8) === 0) planned.push(newOperation(random.pick(predicateWrites)));
      if (random.below(4) === 0) planned.push(newOperation(random.pick(reads)));
      const pauses = planned.map(() => random.below(2) === 0);
      const aborts = random.below(12) === 0;
      await record(number, () => transaction(planned, aborts, pauses));
    }
  }

  function newOperation(type) {
    // A model with a ranked index has no rows that expire.
    const model = random.pick(["tasks", "notes"]);
    const operation = { type, model, id: random.pick(ids), list: random.pick(lists) };
    if (type === "count" && model === "notes" && random.below(2) === 0) operation.type = "ranked";
    if (type === "count" && model === "tasks" && random.below(3) === 0) operation.type = "all";
    if (type === "moveList") operation.to = random.pick(lists);
    operation.n = type === "create" ? ++last % 7 : 1 + random.below(3);
    const mayExpire = expires && model === "tasks" && type === "create";
    if (mayExpire && random.below(2) === 0) operation.expireIn = 1 + random.below(12);
    return operation;
  }

  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  const final = ["tasks", "notes"].flatMap((model) =>
    ["scan", "count", "sum"].flatMap((type) => lists.map((list) => ({ type, model, list }))),
  );
  await record(clients, () => transaction(final, false, []));
  return history;
}

const abort = new Error("aborted");

async function madeOf(call) {
  try {
    await call;
    return true;
  } catch (error) {
    if (error.code === "KW_ROW_NOT_FOUND") return false;
    throw error;
  }
}

function plainRows({ items }) {
  return items.map(plainRow).sort((a, b) => (a < b ? -1 : 1));
}

/** A row as a text, without what the model adds to it. */
function plainRow(row) {
  return row && `${row.id} ${row.list} ${row.n}`;
}
