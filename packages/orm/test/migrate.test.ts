import { type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineMigration,
  defineModel,
  IndexChangedError,
  IndexNotReadyError,
  migrate,
  SchemaNotMigratedError,
  StaleSchemaError,
} from "../src/index.js";
import { formatPlan, planMigration } from "../src/migrate.js";

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

describe("what a program is told that may not write", () => {
  const rejection = (db: { users: { delete(args: object): Promise<unknown> } }) =>
    db.users.delete({ where: { id: "u1" } }).then(
      () => expect.unreachable(),
      (error: unknown) => error,
    );

  it("is what to do, where it has dropped an index and has not been migrated to", async () => {
    await openFirst();
    const byInitial = { key: (user: { email: string }) => user.email[0] };
    const before = defineModel({ ...first, indexes: { ...first.indexes, byInitial } });
    await migrate(await createDatabase({ kv, models: { users: before } }));
    const db = await createDatabase({ kv, models: { users: first } });
    expect(await rejection(db)).toMatchObject({
      code: "KW_STALE_SCHEMA",
      message: expect.not.stringContaining("newer"),
      differences: ["the index byInitial is in the database only"],
    });
  });

  it("is to migrate, where it has the migration, and to write one where it has none", async () => {
    await openFirst();
    const open = (migrations: (typeof agesAreNumbers)[]) =>
      createDatabase({ kv, models: { users: second }, migrations });
    const told = '"age" was a string and is an integer: ';
    expect(await rejection(await open([agesAreNumbers]))).toMatchObject({
      code: "KW_SCHEMA_NOT_MIGRATED",
      differences: [`${told}run migrate`],
    });
    expect(await rejection(await open([]))).toMatchObject({
      differences: [`${told}it needs a migration that changes it`],
    });
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
  ] as const)("that is %s is never read half empty, by whomever", async (change, indexes) => {
    const old = await openFirst();
    const { byEmail } = first.indexes;
    const model = defineModel({ ...first, indexes: { byEmail, ...indexes } });
    const db = await createDatabase({ kv, models: { users: model } });
    const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id).sort();
    const expected = idsOf((await old.users.findMany({ where: { age: "1" } })).items);
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
        if (page !== undefined) expect(idsOf(page.items)).toEqual(expected);
      }
    };
    const reading = read();
    expect((await migrate(db, { accept: true })).status).toBe("done");
    isOver = true;
    await reading;
    // The entries of a rebuilt index stay until the new ones are complete, and those serve it too.
    if (change === "dropped") expect(refused).toBeGreaterThan(0);
    else expect(refused).toBe(0);
  });

  describe("that a newer program has changed", () => {
    const { byEmail } = first.indexes;
    const changed = { byEmail, byAge: { key: ["age", "email"] } } as const;
    /** The types say what the first program knows. */
    const open = (indexes: object) =>
      createDatabase({
        kv,
        models: { users: defineModel({ ...first, indexes } as never) as unknown as typeof first },
      });
    const back = ["users.byAge: rebuild-index"];

    it("is not brought back by an old program that migrates, where nobody has accepted that", async () => {
      await openFirst();
      const db = await open(changed);
      expect((await migrate(db)).status).toBe("done");
      const old = await open(first.indexes);
      const { status, plan } = await migrate(old);
      expect(status).toBe("refused");
      expect(plan.steps).toMatchObject([
        {
          id: back[0],
          class: "breaking",
          reason: expect.stringContaining("goes back to an earlier definition"),
        },
      ]);
      await db.users.update({ where: { id: "u1" }, data: { age: "9" } });
      expect((await migrate(old, { accept: back })).status).toBe("done");
      expect((await old.users.findMany({ where: { age: "9" } })).items).toHaveLength(1);
      // The same holds the other way.
      expect((await migrate(db)).status).toBe("refused");
      expect((await migrate(db, { accept: back })).status).toBe("done");
      const third = await open({ byEmail, byAge: { key: ["age", "id"] } });
      expect((await migrate(third)).status).toBe("done");
      for (const earlier of [db, old]) expect((await migrate(earlier)).status).toBe("refused");
    });

    it("is not brought back while it is being built", async () => {
      await openFirst();
      const stop = new AbortController();
      const onProgress = () => stop.abort();
      const db = await open(changed);
      const { signal } = stop;
      expect((await migrate(db, { signal, onProgress })).status).toBe("stopped");
      expect((await migrate(await open(first.indexes))).status).toBe("refused");
      expect((await migrate(db)).status).toBe("done");
    });

    it("and dropped, is not brought back either", async () => {
      await openFirst();
      const db = await open({ byEmail });
      expect((await migrate(db, { accept: true })).status).toBe("done");
      const old = await open(first.indexes);
      expect((await migrate(old)).status).toBe("refused");
      await db.users.update({ where: { id: "u1" }, data: { age: "9" } });
      expect((await migrate(old, { accept: ["users.byAge: build-index"] })).status).toBe("done");
      expect((await old.users.findMany({ where: { age: "9" } })).items).toHaveLength(1);
      expect((await planMigration(old)).isEmpty).toBe(true);
    });

    it("remembers the last ten definitions, and the catalog grows no more", async () => {
      await openFirst();
      for (let version = 0; version < 12; version++) {
        const db = await open({ byEmail, byAge: { key: "age", normalize: String, version } });
        expect((await migrate(db)).status).toBe("done");
      }
      const { value } = await kv.get<{ indexes: Record<string, { earlier?: string[] }> }>([
        "__keywright",
        "catalog",
        "users",
      ]);
      expect(value?.indexes.byAge?.earlier).toHaveLength(10);
      expect(new Set(value?.indexes.byAge?.earlier).size).toBe(10);
    });
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

describe("a program that is ahead of the database", () => {
  it("does not read indexes of fields that are to change", async () => {
    await openFirst();
    const db = await createDatabase({
      kv,
      models: { users: second },
      migrations: [agesAreNumbers],
    });
    expect((await db.users.findUnique({ where: { email: "User8@example.com" } }))?.age).toBe(1);
    await expect(db.users.findMany({ where: { age: 1 } })).rejects.toThrow(IndexNotReadyError);
  });

  it("makes a safe difference known with its first write, and who differs from that is refused", async () => {
    const old = await openFirst();
    const withNote = (note: z.ZodOptional) =>
      defineModel({
        name: "users",
        schema: first.schema.extend({ note }),
        primaryKey: "id",
        indexes: first.indexes,
      });
    const texts = await createDatabase({ kv, models: { users: withNote(z.string().optional()) } });
    const numbers = await createDatabase({ kv, models: { users: withNote(z.int().optional()) } });
    await texts.users.update({ where: { id: "u1" }, data: { note: "a" } });
    await expect(
      numbers.users.update({ where: { id: "u2" }, data: { note: 1 } }),
    ).rejects.toMatchObject({ code: "KW_SCHEMA_NOT_MIGRATED" });
    expect((await migrate(numbers)).status).toBe("blocked");
    await old.users.update({ where: { id: "u2" }, data: { age: "1" } });
    expect((await planMigration(texts)).isEmpty).toBe(true);
  });
});

it("does not take a field that went for one that is new", async () => {
  await openFirst();
  const { byEmail } = first.indexes;
  const without = defineModel({
    name: "users",
    schema: first.schema.omit({ age: true }),
    primaryKey: "id",
    indexes: { byEmail },
  });
  const db = await createDatabase({ kv, models: { users: without } });
  expect((await migrate(db, { accept: true })).status).toBe("done");
  const back = defineModel({
    name: "users",
    schema: first.schema.omit({ age: true }).extend({ age: z.int().optional() }),
    primaryKey: "id",
    indexes: { byEmail },
  });
  const again = await createDatabase({ kv, models: { users: back } });
  const { status, plan } = await migrate(again);
  expect(status).toBe("blocked");
  expect(plan.steps).toMatchObject([{ class: "data", field: "age" }]);
});

it("does not call an index ready because it has another name", async () => {
  const old = await openFirst();
  await old.users.create({ data: { id: "v", email: "user1@example.com", age: "1" } });
  const normalize = (email: string) => email.toLowerCase();
  const key = { key: "email", unique: true, normalize, prefix: "mails" } as const;
  const { byAge } = first.indexes;
  const named = (indexes: object) => defineModel({ ...first, indexes: { byAge, ...indexes } });
  const db = await createDatabase({ kv, models: { users: named({ byMail: key }) } });
  expect((await migrate(db, { accept: true })).status).toBe("duplicates");
  const renamed = await createDatabase({ kv, models: { users: named({ byEmail: key }) } });
  expect((await migrate(renamed, { accept: true })).status).toBe("duplicates");
});

it("refuses the writes of a program with another rule for a relation", async () => {
  const target = defineModel({ name: "teams", schema: z.object({ id }), primaryKey: "id" });
  const member = (onDelete: "cascade" | "restrict") =>
    defineModel({
      name: "members",
      schema: z.object({ id, teamId: z.string() }),
      primaryKey: "id",
      indexes: { byTeam: { key: "teamId" } },
      relations: { team: belongsTo("teams", "teamId", { onDelete }) },
    });
  const open = (onDelete: "cascade" | "restrict") =>
    createDatabase({ kv, models: { teams: target, members: member(onDelete) } });
  const old = await open("cascade");
  await old.teams.create({ data: { id: "t" } });
  await old.members.create({ data: { id: "m", teamId: "t" } });
  const db = await open("restrict");
  expect((await migrate(db)).status).toBe("done");
  await expect(old.teams.delete({ where: { id: "t" } })).rejects.toThrow(StaleSchemaError);
  expect(await db.members.count()).toBe(1);
});

it("never takes an old row for a new one where the program has no migration, also where its schema is accepted", async () => {
  const old = await openFirst();
  await old.users.create({ data: { id: "bad", email: "bad@example.com", age: "many" } });
  const migrations = [agesAreNumbers];
  const db = await createDatabase({ kv, models: { users: second }, migrations });
  expect((await migrate(db)).status).toBe("failed-rows");
  const third = defineModel({
    ...second,
    schema: second.schema.extend({ note: z.string().optional() }),
  });
  const newest = await createDatabase({ kv, models: { users: third }, migrations });
  await newest.users.update({ where: { id: "u1" }, data: { note: "a" } });
  const without = await createDatabase({ kv, models: { users: second } });
  await without.users.update({ where: { id: "u2" }, data: { age: 40 } });
  await expect(
    without.users.update({ where: { id: "bad" }, data: { email: "b@example.com" } }),
  ).rejects.toMatchObject({ code: "KW_ROW_UPGRADE" });
});
