import { type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineMigration,
  defineModel,
  formatPlan,
  IndexChangedError,
  IndexNotReadyError,
  migrate,
  planMigration,
  SchemaNotMigratedError,
  StaleSchemaError,
} from "../src/index.js";

let kv: Kv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
});

const id = z.string();
const first = defineModel({
  name: "users",
  schema: z.object({ id, email: z.string(), age: z.string() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byAge: { key: "age" } },
});

async function openFirst() {
  const db = await createDatabase({ kv, models: { users: first } });
  const rows = Array.from({ length: 30 }, (_, i) => ({
    id: `u${i}`,
    email: `User${i}@example.com`,
    age: `${i % 7}`,
  }));
  await db.users.createMany({ data: rows });
  return db;
}

describe("a field that is added", () => {
  it("lets programs with and without it write side by side where it is optional", async () => {
    const old = await openFirst();
    const model = defineModel({
      name: "users",
      schema: first.schema.extend({ nickname: z.string().optional() }),
      primaryKey: "id",
      indexes: first.indexes,
    });
    const db = await createDatabase({ kv, models: { users: model } });
    await db.users.update({ where: { id: "u1" }, data: { nickname: "Al" } });
    expect((await migrate(db)).status).toBe("done");
    await old.users.update({ where: { id: "u1" }, data: { age: "9" } });
    expect(await db.users.findUnique({ where: { id: "u1" } })).toMatchObject({
      age: "9",
      nickname: "Al",
    });
    expect((await planMigration(db)).isEmpty).toBe(true);
  });

  it("is filled in where it has a default, and read as such before", async () => {
    const old = await openFirst();
    const model = defineModel({
      name: "users",
      schema: first.schema.extend({ role: z.string().default("member") }),
      primaryKey: "id",
      indexes: { ...first.indexes, byRole: { key: "role" } },
    });
    const db = await createDatabase({ kv, models: { users: model } });
    expect((await db.users.findUnique({ where: { id: "u1" } }))?.role).toBe("member");
    await expect(db.users.update({ where: { id: "u1" }, data: { role: "x" } })).rejects.toThrow(
      SchemaNotMigratedError,
    );
    const result = await migrate(db);
    expect(result.status).toBe("done");
    expect(result.plan.steps.map((step) => step.class)).toEqual([
      "backfill",
      "backfill",
      "backfill",
    ]);
    expect((await kv.get<{ role: string }>(["users", "u1"])).value?.role).toBe("member");
    expect(await db.users.count({ where: { role: "member" } })).toBe(30);
    await expect(old.users.update({ where: { id: "u1" }, data: { age: "1" } })).rejects.toThrow(
      StaleSchemaError,
    );
  });
});

const second = defineModel({
  name: "users",
  schema: z.object({ id, email: z.string(), age: z.int() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byAge: { key: "age" } },
});
const agesAreNumbers = defineMigration({
  model: second,
  name: "ages are numbers",
  from: first.schema,
  to: second.schema,
  up: (row) => ({ ...row, age: Number(row.age) }),
  down: (row) => ({ ...row, age: String(row.age) }),
});

describe("a field of another type", () => {
  it("asks for a migration, and does nothing without one", async () => {
    await openFirst();
    const db = await createDatabase({ kv, models: { users: second } });
    const result = await migrate(db);
    expect(result.status).toBe("blocked");
    expect(formatPlan(result.plan)).toContain("defineMigration({");
    expect((await kv.get<{ age: string }>(["users", "u1"])).value?.age).toBe("1");
  });

  it("is changed in every row, and its index is built anew", async () => {
    const old = await openFirst();
    const db = await createDatabase({
      kv,
      models: { users: second },
      migrations: [agesAreNumbers],
    });
    expect((await db.users.findUnique({ where: { email: "User8@example.com" } }))?.age).toBe(1);
    const { status } = await migrate(db);
    expect(status).toBe("done");
    expect(await db.users.count({ where: { age: { gte: 5 } } })).toBe(8);
    expect(await db.users.findMany({ where: { age: 6 }, take: 1 })).toMatchObject({
      items: [{ id: "u13", age: 6 }],
    });
    await expect(old.users.delete({ where: { id: "u1" } })).rejects.toThrow(StaleSchemaError);
  });

  it("goes back by the migration's down, where that is accepted", async () => {
    await openFirst();
    const db = await createDatabase({
      kv,
      models: { users: second },
      migrations: [agesAreNumbers],
    });
    await migrate(db);
    const back = await createDatabase({
      kv,
      models: { users: first },
      migrations: [agesAreNumbers],
    });
    expect((await migrate(back)).status).toBe("refused");
    expect((await migrate(back, { accept: true })).status).toBe("done");
    expect(await back.users.count({ where: { age: "6" } })).toBe(4);
    expect((await kv.get<{ age: string }>(["users", "u6"])).value?.age).toBe("6");
  });
});

describe("an index", () => {
  it("whose functions change is built anew", async () => {
    const old = await openFirst();
    const model = defineModel({
      ...first,
      indexes: {
        ...first.indexes,
        byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
      },
    });
    const db = await createDatabase({ kv, models: { users: model } });
    await expect(db.users.findUnique({ where: { email: "user3@EXAMPLE.com" } })).rejects.toThrow(
      IndexChangedError,
    );
    await expect(db.users.delete({ where: { id: "u1" } })).rejects.toThrow(IndexChangedError);
    const result = await migrate(db);
    expect(result.plan.steps).toMatchObject([{ class: "rebuild", index: "byEmail" }]);
    expect(result.status).toBe("done");
    const found = await db.users.findUnique({ where: { email: "user3@EXAMPLE.com" } });
    expect(found?.id).toBe("u3");
    expect((await kv.get(["users_by_email", "User3@example.com"])).value).toBeNull();
    await expect(old.users.delete({ where: { id: "u1" } })).rejects.toThrow(IndexChangedError);
  });

  it("that is dropped goes only where that is accepted, with all of its entries", async () => {
    const old = await openFirst();
    const { byEmail } = first.indexes;
    const model = defineModel({ ...first, indexes: { byEmail } });
    const db = await createDatabase({ kv, models: { users: model } });
    const refused = await migrate(db);
    expect(refused.status).toBe("refused");
    expect(refused.plan.steps.map((step) => step.id)).toEqual(["users.byAge: drop-index"]);
    const accepted = await migrate(db, { accept: ["users.byAge: drop-index"] });
    expect(accepted.status).toBe("done");
    for await (const _ of kv.list({ prefix: ["users_by_age"] })) expect.unreachable();
    await db.users.delete({ where: { id: "u1" } });
    // It knows an index that is not there any more, and need not keep it up.
    await old.users.delete({ where: { id: "u2" } });
  });

  it.each([
    ["dropped", {}],
    ["rebuilt", { byAge: { key: ["age", "email"] } }],
  ] as const)("that is %s is never read half empty, by whomever", async (_, indexes) => {
    const old = await openFirst();
    const { byEmail } = first.indexes;
    const model = defineModel({ ...first, indexes: { byEmail, ...indexes } });
    const db = await createDatabase({ kv, models: { users: model } });
    const expected = (await old.users.findMany({ where: { age: "1" } })).items;
    let isOver = false;
    let refused = 0;
    const read = async () => {
      while (!isOver) {
        await new Promise(setImmediate);
        const page = await old.users.findMany({ where: { age: "1" } }).catch((error: unknown) => {
          const isNotReady = error instanceof IndexNotReadyError;
          expect(isNotReady || error instanceof IndexChangedError).toBe(true);
          refused++;
        });
        if (page !== undefined) expect(page.items).toEqual(expected);
      }
    };
    const reading = read();
    expect((await migrate(db, { accept: true })).status).toBe("done");
    isOver = true;
    await reading;
    expect(refused).toBeGreaterThan(0);
  });

  it("that has another name in the same place keeps its entries", async () => {
    await openFirst();
    const { byEmail, byAge } = first.indexes;
    const model = defineModel({
      ...first,
      indexes: { byMail: { ...byEmail, prefix: "users_by_email" }, byAge },
    });
    const db = await createDatabase({ kv, models: { users: model } });
    const before = (await kv.get(["users_by_email", "User3@example.com"])).versionstamp;
    expect((await migrate(db)).status).toBe("done");
    expect((await db.users.findUnique({ where: { email: "User3@example.com" } }))?.id).toBe("u3");
    expect((await kv.get(["users_by_email", "User3@example.com"])).versionstamp).toBe(before);
  });
});

describe("a model", () => {
  it("of another name keeps its rows by its prefix", async () => {
    const old = await openFirst();
    const model = defineModel({ ...first, name: "members", prefix: "users" });
    const db = await createDatabase({ kv, models: { members: model } });
    expect((await migrate(db)).plan.steps.map((step) => step.kind)).toEqual(["rename-model"]);
    await db.members.update({ where: { id: "u1" }, data: { age: "99" } });
    expect(await old.users.count({ where: { age: "99" } })).toBe(1);
  });
});
