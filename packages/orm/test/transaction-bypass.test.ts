import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import {
  createDatabase,
  type Database,
  defineModel,
  TransactionBypassedError,
} from "../src/index.js";
import { rejection, User, users } from "./user-model.js";

type Users = Database<{ users: typeof User }>;

let kv: EmbeddedKv;
let db: Users;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { users: User } });
});
afterEach(() => kv.close());

const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const where = { id };
const create = { ...users.ada, id };
const filter = () => true;

const writes: Readonly<Record<string, (on: Users) => Promise<unknown>>> = {
  create: (on) => on.users.create({ data: users.bob }),
  createMany: (on) => on.users.createMany({ data: [users.bob] }),
  "createMany with atomic": (on) => on.users.createMany({ data: [users.bob], atomic: true }),
  update: (on) => on.users.update({ where, data: { age: 1 } }),
  updateMany: (on) => on.users.updateMany({ filter, data: { age: 1 } }),
  upsert: (on) => on.users.upsert({ where, create, update: { age: 1 } }),
  delete: (on) => on.users.delete({ where }),
  deleteMany: (on) => on.users.deleteMany({ filter }),
  "deleteMany with atomic": (on) => on.users.deleteMany({ filter, atomic: true }),
  transaction: (on) => on.transaction((tx) => tx.users.create({ data: users.bob })),
  "create of a generated repository": (on) => rowsOf(on, "users").create({ data: users.bob }),
};

describe("a write of the database within a transaction", () => {
  beforeEach(() => db.users.create({ data: create }));

  it.each(Object.entries(writes))("%s is refused at once", async (name, write) => {
    let attempts = 0;
    const failed = db.transaction(async (tx) => {
      attempts++;
      await tx.users.findUnique({ where });
      await tx.users.update({ where, data: { age: 2 } });
      await write(db);
    });
    const error = await rejection(failed);
    expect(error).toBeInstanceOf(TransactionBypassedError);
    expect(error).toMatchObject({ code: "KW_TRANSACTION_BYPASSED", retryable: false });
    expect(error.message).toContain(`${name.split(" ")[0]}: it was called on the database`);
    expect(attempts).toBe(1);
    expect((await db.users.scan()).items).toEqual([create]);
  });

  it.each(Object.entries(writes))("%s is permitted by an option", async (_, write) => {
    await db.transaction(() => write(db), { allowOutsideWrites: true });
    expect((await db.users.scan()).items).not.toEqual([create]);
  });

  it.each(Object.entries(writes))("%s is made after the transaction", async (_, write) => {
    await db.transaction((tx) => tx.users.findUnique({ where }));
    await write(db);
    expect((await db.users.scan()).items).not.toEqual([create]);
  });
});

it("reads of the database are permitted, and do not see the writes of the transaction", async () => {
  await db.transaction(async (tx) => {
    await tx.users.create({ data: create });
    expect(await db.users.findUnique({ where })).toBeNull();
    expect(await db.users.count()).toBe(0);
  });
});

it("other callers can write during it", async () => {
  const order: string[] = [];
  let proceed = () => {};
  const blocked = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  const running = db.transaction(async (tx) => {
    await blocked;
    await tx.users.create({ data: users.bob });
    order.push("transaction");
  });
  await db.users.create({ data: create });
  order.push("create");
  proceed();
  await running;
  expect(order).toEqual(["create", "transaction"]);
});

it("another database over the same key-value database counts as the same", async () => {
  const same = await createDatabase({ kv, models: { users: User } });
  const failed = db.transaction(() => same.users.create({ data: create }));
  expect(await rejection(failed)).toBeInstanceOf(TransactionBypassedError);
});

it("another key-value database can be written, with and without a transaction", async () => {
  const otherKv = await openKv();
  try {
    const other = await createDatabase({ kv: otherKv, models: { users: User } });
    await db.transaction(async () => {
      await other.users.create({ data: users.bob });
      await other.transaction(async (tx) => {
        await tx.users.create({ data: create });
        const nested = db.users.create({ data: create });
        expect(await rejection(nested)).toBeInstanceOf(TransactionBypassedError);
      });
    });
    expect(await other.users.count()).toBe(2);
  } finally {
    await otherKv.close();
  }
});

it("work that is not awaited is refused until the transaction has ended", async () => {
  let proceed = () => {};
  const ended = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  let before: Promise<unknown> | undefined;
  let after: Promise<unknown> | undefined;
  await db.transaction(async () => {
    before = rejection(db.users.create({ data: create }));
    after = ended.then(() => db.users.create({ data: create }));
  });
  proceed();
  expect(await before).toBeInstanceOf(TransactionBypassedError);
  expect(await after).toEqual(create);
});

it("work of a transaction that failed can write afterwards", async () => {
  let later: (() => Promise<unknown>) | undefined;
  const failed = db.transaction(async () => {
    const { AsyncResource } = await import("node:async_hooks");
    later = AsyncResource.bind(() => db.users.create({ data: create }));
    throw new Error("given up");
  });
  await rejection(failed);
  expect(await later?.()).toEqual(create);
});

describe("hooks", () => {
  const open = async (hook: "beforeCreate" | "afterCreate") => {
    const hooked: Users = await createDatabase({
      kv,
      models: { users: User },
      hooks: {
        users: {
          [hook]: async ({ email }: { email: string }) => {
            if (email !== users.bob.email) await hooked.users.create({ data: users.bob });
          },
        },
      },
    });
    return hooked;
  };

  it("before a write of a transaction cannot write by the database", async () => {
    const hooked = await open("beforeCreate");
    const failed = hooked.transaction((tx) => tx.users.create({ data: create }));
    expect(await rejection(failed)).toBeInstanceOf(TransactionBypassedError);
    expect(await db.users.count()).toBe(0);
  });

  it("after a write run after the commit, and write", async () => {
    const hooked = await open("afterCreate");
    await hooked.transaction((tx) => tx.users.create({ data: create }));
    expect(await db.users.count()).toBe(2);
  });

  it.each([false, true])("of a createMany with atomic: %s write", async (atomic) => {
    for (const hook of ["beforeCreate", "afterCreate"] as const) {
      const hooked = await open(hook);
      await hooked.users.createMany({ data: [create], atomic });
      expect(await db.users.count()).toBe(2);
      await db.users.deleteMany({ filter });
    }
  });
});

describe("a function of a transaction runs once without another writer", () => {
  it("if it creates a row that exists", async () => {
    await db.users.create({ data: create });
    let attempts = 0;
    const failed = db.transaction(async (tx) => {
      attempts++;
      await tx.users.create({ data: create });
    });
    expect(await rejection(failed)).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT" });
    expect(attempts).toBe(1);
  });

  it("if it takes a unique value that exists, and continues", async () => {
    await db.users.create({ data: create });
    let attempts = 0;
    const error = await db.transaction(async (tx) => {
      attempts++;
      const result = await rejection(tx.users.create({ data: users.ada }));
      await tx.users.create({ data: users.bob });
      return result;
    });
    expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byEmail" });
    expect(attempts).toBe(1);
    expect(await db.users.count()).toBe(2);
  });

  it("and its hooks are called once, also by createMany with atomic", async () => {
    await db.users.create({ data: create });
    let calls = 0;
    const hooks = { users: { beforeCreate: () => void calls++ } };
    const hooked = await createDatabase({ kv, models: { users: User }, hooks });
    await rejection(hooked.users.createMany({ data: [create], atomic: true }));
    expect(calls).toBe(1);
  });
});

describe("onQuery", () => {
  it("may write through the database within a transaction, also without waiting", async () => {
    const Call = defineModel({
      name: "calls",
      schema: z.object({ id: z.ulid(), operation: z.string() }),
      primaryKey: "id",
    });
    const writes: Promise<unknown>[] = [];
    const logged = await createDatabase({
      kv,
      models: { users: User, calls: Call },
      onQuery: ({ model, operation }) => {
        if (model !== "calls") writes.push(logged.calls.create({ data: { operation } }));
      },
    });
    await logged.transaction((tx) => tx.users.create({ data: create }));
    await Promise.all(writes);
    expect(await logged.calls.scan()).toMatchObject({ items: [{ operation: "create" }] });
    const failing = logged.transaction(async (tx) => {
      await tx.users.update({ where, data: { age: 3 } });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await Promise.all(writes);
    expect((await logged.calls.scan()).items.map(({ operation }) => operation)).toEqual([
      "create",
      "update",
    ]);
  });

  it("whose promise is rejected does not end the process", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    try {
      const failing = await createDatabase({
        kv,
        models: { users: User },
        onQuery: (() => Promise.reject(new Error("no log"))) as never,
      });
      await failing.users.create({ data: create });
      await expect
        .poll(() => logged.mock.calls)
        .toContainEqual(["onQuery threw:", new Error("no log")]);
    } finally {
      logged.mockRestore();
    }
  });
});
