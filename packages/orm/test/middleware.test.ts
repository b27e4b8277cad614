import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, type DatabaseCall, type Middleware, type Row } from "../src/index.js";
import { rejection, User, users } from "./user-model.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const models = { users: User };
const open = (middleware: Middleware | readonly Middleware[]) =>
  createDatabase({ kv, models, middleware });

/** Records each call, with its result or error. */
function recording() {
  const calls: { call: DatabaseCall; result?: unknown; error?: unknown }[] = [];
  const middleware: Middleware = async (call, next) => {
    try {
      const result = await next();
      calls.push({ call, result });
      return result;
    } catch (error) {
      calls.push({ call, error });
      throw error;
    }
  };
  const operations = () => calls.splice(0).map(({ call }) => call.operation);
  return { calls, middleware, operations };
}

it("is around every call of a repository, with its argument and result", async () => {
  const { calls, middleware, operations } = recording();
  const db = await open(middleware);
  const ada = await db.users.create({ data: users.ada });
  const of = { model: "users", isInTransaction: false, result: "value" };
  const first = { ...of, operation: "create", args: { data: users.ada } };
  expect(calls).toEqual([{ call: first, result: ada }]);
  const where = { id: ada.id };
  await db.users.createMany({ data: [users.bob] });
  await db.users.update({ where, data: { age: 1 } });
  await db.users.updateMany({ where: { favoriteColor: "green" }, data: { age: 2 } });
  await db.users.upsert({ where, create: users.ada, update: {} });
  await db.users.findUnique({ where });
  await db.users.findUniqueOrThrow({ where });
  await db.users.findFirst({ where: { favoriteColor: "green" } });
  await db.users.findMany({ where: { favoriteColor: "green" } });
  await db.users.scan();
  await db.users.count();
  await db.users.exists();
  await db.users.distinct({ field: "favoriteColor" });
  await db.users.explain({ where: { favoriteColor: "green" } });
  await db.users.deleteMany({ where: { favoriteColor: "red" } });
  await db.users.delete({ where });
  expect(operations().join(" ")).toBe(
    "create createMany update updateMany upsert findUnique findUniqueOrThrow findFirst findMany " +
      "scan count exists distinct explain deleteMany delete",
  );
  const error = await rejection(db.users.delete({ where }));
  expect(calls[0]).toMatchObject({ call: { operation: "delete", args: { where } }, error });
});

it("covers transactions, loops and live queries", async () => {
  const { calls, middleware, operations } = recording();
  const db = await open(middleware);
  const result = await db.transaction(async (tx) => {
    const ada = await tx.users.create({ data: users.ada });
    return await tx.users.findUnique({ where: { id: ada.id } });
  });
  expect(calls.map(({ call }) => call.isInTransaction)).toEqual([true, true]);
  expect(operations()).toEqual(["create", "findUnique"]);
  for await (const row of db.users.scan()) expect(row).toEqual(result);
  expect(calls).toMatchObject([{ call: { operation: "scan", result: "rows" } }]);
  calls.length = 0;
  const reports: unknown[] = [];
  for await (const rows of db.users.watchMany({ where: { favoriteColor: "green" } })) {
    reports.push(rows);
    if (reports.length === 2) break;
    await db.users.create({ data: users.cyd });
  }
  expect(operations()).toEqual(["watch", "create", "watch"]);
  expect(reports).toMatchObject([{ length: 1 }, { length: 2 }]);
});

it("runs in order, the first outermost, and decides on the result", async () => {
  const order: string[] = [];
  const named =
    (name: string): Middleware =>
    async (_, next) => {
      order.push(`${name} begins`);
      const result = await next();
      order.push(`${name} ends`);
      return result;
    };
  const anonymous: Middleware = async ({ operation, result }, next) => {
    if (operation === "count") return 42;
    const found = await next();
    if (result === "rows") return renamed(found as AsyncIterable<Row<typeof User>>);
    return operation === "findFirst" ? { ...(found as object), name: "?" } : found;
  };
  async function* renamed(rows: AsyncIterable<Row<typeof User>>) {
    for await (const row of rows) yield { ...row, name: "?" };
  }
  const db = await open([named("a"), named("b"), anonymous]);
  await db.users.create({ data: users.ada });
  expect(order).toEqual(["a begins", "b begins", "b ends", "a ends"]);
  expect(await db.users.count()).toBe(42);
  expect((await db.users.findFirst({ where: { favoriteColor: "green" } }))?.name).toBe("?");
  for await (const { name } of db.users.scan()) expect(name).toBe("?");
});

it("can repeat a call, refuse it, and write the data that was passed although it waits", async () => {
  let failures = 1;
  const db = await open(async ({ operation }, next) => {
    if (operation === "delete") throw new Error("read only");
    await new Promise((resolve) => setTimeout(resolve, 1));
    const result = await next();
    return operation === "count" && failures-- > 0 ? await next() : result;
  });
  const data = { ...users.ada, name: "Ada" as string };
  const created = db.users.create({ data });
  data.name = "changed";
  const ada = await created;
  expect(ada.name).toBe("Ada");
  expect(await db.users.count()).toBe(1);
  const refused = db.users.delete({ where: { id: ada.id } });
  expect((await rejection(refused)).message).toBe("read only");
  expect(await db.users.exists()).toBe(true);
});

it("gets what hooks, computed fields and select have made of rows, and the calls of hooks", async () => {
  const { calls, middleware } = recording();
  const db = await createDatabase({
    kv,
    models,
    middleware,
    hooks: {
      users: {
        duringUpdate: async (_, __, { tx }) => void (await tx.users.count()),
        afterRead: (row) => ({ ...row, name: "masked" }),
      },
    },
  });
  const { id } = await db.users.create({ data: users.ada });
  calls.length = 0;
  await db.users.update({ where: { id }, data: { age: 1 }, select: { name: true } });
  expect(calls).toMatchObject([
    { call: { operation: "count", isInTransaction: true } },
    { call: { operation: "update", isInTransaction: false }, result: { name: "masked" } },
  ]);
});

it("runs in generated repositories too, and is refused if it is no function", async () => {
  const { middleware, operations } = recording();
  const db = await open(middleware);
  const rows = rowsOf<Row<typeof User>, object, object>(db, "users");
  const ada = await rows.create({ data: users.ada });
  expect(await rows.findEach([ada.id])).toEqual([ada]);
  expect(operations()).toEqual(["create", "findMany"]);
  // @ts-expect-error it has to be a function
  const wrong = createDatabase({ kv, models, middleware: 1 });
  expect(await rejection(wrong)).toMatchObject({ argument: "middleware" });
  // @ts-expect-error its result is a promise
  await open(() => 1);
  const bad = await open(async () => 1);
  const loop = async () => {
    for await (const _ of bad.users.scan());
  };
  expect(await rejection(loop())).toMatchObject({ argument: "middleware" });
});
