import { type EmbeddedKv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { compileModel, modelManifest, rowsOf } from "../src/codegen.js";
import { createDatabase, defineModel, desc, migrate } from "../src/index.js";
import { formatPlan, planMigration } from "../src/migrate.js";

const schema = z.object({
  id: z.string(),
  tenant: z.string(),
  email: z.string(),
  tags: z.array(z.string()),
});
const lower = (text: string) => text.toLowerCase();

const User = defineModel({
  name: "users",
  schema,
  primaryKey: "id",
  indexes: {
    byTenantAndEmail: { key: ["tenant", "email"], unique: true, normalize: { email: lower } },
    byTenantAndTag: { key: ["tenant", "tags"], each: true, normalize: { tags: lower } },
  },
});

const ada = { id: "1", tenant: "T", email: "Ada@a.org", tags: ["Red", "RED", "blue"] };
const bob = { ...ada, id: "2", email: "bob@b.org", tags: ["red"] };

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

describe("an index over several fields, one of which it normalizes", () => {
  async function open() {
    const db = await createDatabase({ kv, models: { users: User } });
    await db.users.createMany({ data: [ada, bob] });
    return db;
  }

  it("finds a row by a value that is written otherwise, and the other fields as they are", async () => {
    const { users } = await open();
    expect(await users.findUnique({ where: { tenant: "T", email: "ADA@a.org" } })).toEqual(ada);
    expect(await users.findUnique({ where: { tenant: "t", email: "ADA@a.org" } })).toBeNull();
    const found = await users.findMany({ where: { tenant: "T", email: { startsWith: "BO" } } });
    expect(found.items).toEqual([bob]);
  });

  it("has one row for values that differ in nothing else", async () => {
    const db = await open();
    const twin = { ...ada, id: "3", email: "aDa@A.org" };
    await expect(db.users.create({ data: twin })).rejects.toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
    });
    await db.users.create({ data: { ...twin, tenant: "other" } });
    const changed = await rowsOf(db, "users").upsert({
      index: "byTenantAndEmail",
      where: { tenant: "T", email: "ADA@A.ORG" },
      create: { id: "4", tags: [] },
      update: { tags: [] },
    });
    expect(changed).toEqual({ ...ada, tags: [] });
  });

  it("has one entry for the elements of an array that come to the same", async () => {
    const { users } = await open();
    const where = { tenant: "T", tags: { has: "rEd" } };
    expect((await users.findMany({ where })).items).toEqual([ada, bob]);
    const keys: KvKey[] = [];
    for await (const { key } of kv.list({ prefix: ["users_by_tenant_and_tag"] })) keys.push(key);
    expect(keys.map((key) => key.slice(1))).toEqual([
      ["T", "blue", "1"],
      ["T", "red", "1"],
      ["T", "red", "2"],
    ]);
  });

  it("can be read while other fields of all rows change", async () => {
    await open();
    const Wider = defineModel({
      ...User,
      schema: schema.extend({ plan: z.string().default("free") }),
    });
    const db = await createDatabase({ kv, models: { users: Wider } });
    expect((await planMigration(db)).steps.map(({ id }) => id)).toEqual([
      "users.plan: add-field",
      "users: transform-rows",
    ]);
    const where = { tenant: "T", email: "ADA@a.org" };
    expect(await db.users.findUnique({ where })).toEqual({ ...ada, plan: "free" });
    expect(await migrate(db)).toMatchObject({ status: "done" });
    expect(await db.users.findUnique({ where })).toEqual({ ...ada, plan: "free" });
  });

  it("is built anew where another field is normalized, which the plan says", async () => {
    await open();
    const { byTenantAndEmail } = User.indexes;
    const normalize = { email: lower, tenant: lower };
    const Changed = defineModel({
      ...User,
      indexes: { ...User.indexes, byTenantAndEmail: { ...byTenantAndEmail, normalize } },
    });
    const db = await createDatabase({ kv, models: { users: Changed } });
    expect(formatPlan(await planMigration(db))).toContain('normalizes ["tenant","email"] now');
    expect(await migrate(db, { accept: true })).toMatchObject({ status: "done" });
    const where = { tenant: "t", email: "ADA@a.org" };
    expect(await db.users.findUnique({ where })).toEqual(ada);
  });

  it("is described by the names of the fields, also where it states a version", () => {
    const versioned = { ...User.indexes.byTenantAndEmail, version: 1 };
    const { indexes } = modelManifest(
      compileModel(defineModel({ ...User, indexes: { by: versioned } })),
    );
    expect(indexes.by).toMatchObject({ normalized: true, traits: { normalized: ["email"] } });
  });
});

describe("normalizers that are declared by name", () => {
  const Named = defineModel({
    name: "users",
    schema: schema.extend({ nick: z.string().optional() }),
    primaryKey: "id",
    indexes: {
      byEmail: { key: "email", unique: true, normalize: ["trim", "lowercase"] },
      byTenantAndTag: {
        key: ["tenant", "tags"],
        each: true,
        normalize: { tags: ["nfc", "uppercase"] },
      },
      byNick: { key: desc("nick"), normalize: { nick: "nfc" } },
    },
  });
  const row = {
    ...ada,
    email: " Ada@a.org\n",
    tags: ["e\u0301", "\u00e9", "\u00df"],
    nick: "e\u0301",
  };

  it("are applied in their order, by writes and queries", async () => {
    const { users } = await createDatabase({ kv, models: { users: Named } });
    await users.create({ data: row });
    expect(await users.findUnique({ where: { email: "ADA@A.ORG" } })).toEqual(row);
    const twin = { ...row, id: "2", email: "ada@a.org " };
    await expect(users.create({ data: twin })).rejects.toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
    });
    expect((await users.findMany({ where: { nick: "\u00e9" } })).items).toEqual([row]);
    const keys: KvKey[] = [];
    for await (const { key } of kv.list({ prefix: ["users_by_tenant_and_tag"] })) keys.push(key);
    expect(keys.map((key) => key[2])).toEqual(["SS", "\u00c9"]);
  });

  it("are part of the stored definition, with which another program can write", async () => {
    const { indexes } = modelManifest(compileModel(Named));
    expect(indexes.byEmail).toEqual({
      prefix: "users_by_email",
      fields: ["email"],
      unique: true,
      normalized: true,
      traits: { normalizers: { email: ["trim", "lowercase"] } },
    });
    const old = await createDatabase({ kv, models: { users: Named } });
    await old.users.create({ data: row });
    const Changed = defineModel({
      ...Named,
      indexes: { ...Named.indexes, byEmail: { ...Named.indexes.byEmail, normalize: "lowercase" } },
    });
    const db = await createDatabase({ kv, models: { users: Changed } });
    const { steps } = await planMigration(db);
    expect(steps[0]?.reason).toContain(
      'its normalize of email was ["trim","lowercase"] and is ["lowercase"]',
    );
    expect(steps[0]?.reason).toContain("byEmail is rebuilt beside its entries");
    expect(await migrate(db)).toMatchObject({ status: "done" });
    expect(await db.users.findUnique({ where: { email: " ADA@a.org\n" } })).toEqual(row);
  });

  it("refuse a value that is no string, where the schema allows it", async () => {
    const Any = defineModel({
      name: "any",
      schema: z.object({ id: z.string(), value: z.custom<string>() }),
      primaryKey: "id",
      indexes: { byValue: { key: "value", normalize: "trim" } },
    });
    const db = await createDatabase({ kv, models: { any: Any } });
    await expect(db.any.create({ data: { id: "1", value: 1 as never } })).rejects.toMatchObject({
      code: "KW_INDEX_KEY_INVALID",
    });
  });
});
