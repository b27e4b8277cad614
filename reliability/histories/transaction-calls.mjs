import { defineModel } from "@keywright/orm";
import * as z from "zod";

const fields = { id: z.string(), list: z.string(), n: z.int() };
const indexes = {
  byList: { key: ["list", "n"] },
  byCounted: { key: ["list", "id"], count: true, sum: ["n"] },
};
export const models = {
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

export const lists = ["a", "b", "c"];
export const ids = ["1", "2", "3", "4", "5", "6", "7", "8"];

/** The calls of clients. Each makes its operation and returns what the program sees of it. */
export const calls = {
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
export const reads = ["get", "list", "first", "count", "countFrom", "sum", "scan"];
export const writes = ["create", "create", "create", "move", "add", "delete"];
export const predicateWrites = ["moveList", "addToList", "deleteList"];

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
