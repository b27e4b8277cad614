import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { undoableMigrations } from "../src/codegen.js";
import { createDatabase, defineMigration, defineModel, migrate } from "../src/index.js";
import { formatPlan, planMigration } from "../src/migrate.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Plain = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.string(), team: z.string() }),
  primaryKey: "id",
});
const User = defineModel({
  ...Plain,
  count: true,
  indexes: { byEmail: { key: "email", unique: true }, byTeam: { key: "team", count: true } },
});
const { byEmail, byTeam } = User.indexes;

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function openUser() {
  const db = await createDatabase({ kv, models: { users: User } });
  await db.users.create({ data: { id: "1", email: "a", team: "red" } });
  return db;
}
const row = { id: "2", email: "a", team: "red" };

describe("after an index was dropped, a program that has it", () => {
  it("can no longer write if it is unique, and can go back", async () => {
    const old = await openUser();
    const Now = defineModel({ ...Plain, count: true, indexes: { byTeam } });
    const db = await createDatabase({ kv, models: { users: Now } });
    const plan = await planMigration(db);
    expect(plan.steps).toMatchObject([
      { kind: "drop-index", class: "breaking", sideBySide: false },
    ]);
    expect(formatPlan(plan)).toContain("Programs with the old models cannot write afterwards.");
    expect(await migrate(db, { accept: true })).toMatchObject({ status: "done" });
    await db.users.create({ data: row });
    const error = {
      code: "KW_STALE_SCHEMA",
      differences: ["the unique index byEmail was changed or dropped by another program"],
    };
    const data = { ...row, id: "3" };
    const other = await createDatabase({ kv, models: { users: User } });
    for (const program of [old, other]) {
      expect(await rejection(program.users.create({ data }))).toMatchObject(error);
      const inTransaction = program.transaction((tx) => tx.users.create({ data }));
      expect(await rejection(inTransaction)).toMatchObject(error);
      expect(await program.users.findUnique({ where: { id: "2" } })).toEqual(row);
    }
    expect((await migrate(old)).status).toBe("refused");
    expect((await migrate(old, { accept: true })).status).toBe("duplicates");
    await old.users.delete({ where: { id: "2" } });
    expect((await rejection(old.users.create({ data }))).code).toBe("KW_UNIQUE_CONSTRAINT");
    await expectIndexesToMatch(kv, User);
  });

  it("can no longer write while it is replaced by another definition", async () => {
    const old = await openUser();
    const changed = { ...User.indexes, byEmail: { key: ["email", "team"], unique: true } } as const;
    const Now = defineModel({ ...User, indexes: changed });
    const db = await createDatabase({ kv, models: { users: Now } });
    const stop = new AbortController();
    const run = migrate(db, {
      accept: true,
      signal: stop.signal,
      onProgress: ({ phase }) => phase === "building" && stop.abort(),
    });
    expect((await run).status).toBe("stopped");
    const write = old.users.create({ data: row });
    expect(await rejection(write)).toMatchObject({ code: "KW_STALE_SCHEMA" });
    // Going back is possible before the run has ended, too.
    expect((await migrate(old, { accept: true })).status).toBe("done");
    expect((await rejection(old.users.create({ data: row }))).code).toBe("KW_UNIQUE_CONSTRAINT");
    await expectIndexesToMatch(kv, User);
  });

  it("can still write if it is not, and after a counter was dropped", async () => {
    const old = await openUser();
    const Now = defineModel({ ...Plain, indexes: { byEmail } });
    const db = await createDatabase({ kv, models: { users: Now } });
    const plan = await planMigration(db);
    expect(plan.steps.map(({ kind, sideBySide }) => [kind, sideBySide])).toEqual([
      ["drop-index", true],
      ["drop-counter", true],
      ["drop-counter", true],
    ]);
    expect(plan.steps.every(({ reason }) => !reason.includes("no longer write"))).toBe(true);
    expect((await migrate(db, { accept: true })).status).toBe("done");
    await old.users.create({ data: { ...row, email: "b" } });
    expect((await rejection(old.users.findMany({ where: { team: "red" } }))).code).toBe(
      "KW_INDEX_NOT_READY",
    );
    await expectIndexesToMatch(kv, Now);
    expect((await migrate(old, { accept: true })).status).toBe("done");
    expect(await old.users.count({ where: { team: "red" } })).toBe(2);
    await expectIndexesToMatch(kv, User);
  });
});

describe("an index that was renamed", () => {
  const Now = defineModel({
    ...User,
    indexes: {
      byMail: { key: "email", unique: true, prefix: "users_by_email" },
      byGroup: { key: "team", count: true, prefix: "users_by_team" },
    },
  });

  it("can be read by either name, before and after the run", async () => {
    const old = await openUser();
    const db = await createDatabase({ kv, models: { users: Now } });
    const read = async () => {
      const where = { team: "red" };
      expect(await old.users.findUnique({ where: { email: "a" } })).toMatchObject({ id: "1" });
      expect(await db.users.findUnique({ where: { email: "a" } })).toMatchObject({ id: "1" });
      expect((await old.users.findMany({ index: "byTeam", where })).items).toHaveLength(1);
      expect((await db.users.findMany({ index: "byGroup", where })).items).toHaveLength(1);
      expect(await old.users.count({ where })).toBe(1);
      expect(await db.users.count({ where })).toBe(1);
    };
    await read();
    expect((await planMigration(db)).steps).toMatchObject([
      { kind: "rename-index", class: "safe", sideBySide: false },
      { kind: "rename-index", class: "safe", sideBySide: false },
    ]);
    expect((await migrate(db)).status).toBe("done");
    await read();
    expect((await rejection(old.users.create({ data: row }))).code).toBe("KW_STALE_SCHEMA");
    expect((await rejection(db.users.create({ data: row }))).code).toBe("KW_UNIQUE_CONSTRAINT");
  });
});

describe("a program that is older than the schema of the database", () => {
  const body = z.object({ id: z.string(), body: z.string().default("") });
  const description = z.object({ id: z.string(), description: z.string().default("") });
  const text = z.object({ id: z.string(), text: z.string().default("") });
  const notes = (schema: z.ZodObject) => ({
    notes: defineModel({ name: "notes", schema, primaryKey: "id" } as never),
  });
  type Notes = ReturnType<typeof notes>["notes"];
  type Row = Record<string, unknown>;
  const move = (from: z.ZodObject, to: z.ZodObject, [a, b]: [string, string]) =>
    defineMigration({
      model: notes(to).notes as Notes,
      from,
      to,
      up: ({ [a]: value, ...row }: Row) => ({ ...row, [b]: value }),
    } as never);
  const first = move(body, description, ["body", "description"]);
  const second = move(description, text, ["description", "text"]);
  // biome-ignore lint/suspicious/noExplicitAny: the tests open the same rows with many schemas.
  const open = async (schema: z.ZodObject, migrations: unknown[] = []): Promise<any> =>
    await createDatabase({ kv, models: notes(schema), migrations } as never);
  const read = async (db: { notes: { findUnique(query: object): Promise<unknown> } }) =>
    await db.notes.findUnique({ where: { id: "1" } });
  const unknown = { code: "KW_STALE_SCHEMA", differences: ['"body" is gone'] };

  it("gets no default in place of a value that a migration has moved", async () => {
    const old = await open(body);
    await old.notes.create({ data: { id: "1", body: "important" } });
    const now = await open(description, [first]);
    expect((await migrate(now)).status).toBe("done");
    // The refused write makes the program read the catalog again.
    expect(await rejection(old.notes.create({ data: { id: "2" } }))).toMatchObject({
      code: "KW_STALE_SCHEMA",
    });
    for (const program of [await open(body), old]) {
      expect(await rejection(read(program))).toMatchObject(unknown);
      expect(await rejection(program.notes.scan().then())).toMatchObject(unknown);
      const inTransaction = program.transaction((tx: typeof program) => read(tx));
      expect(await rejection(inTransaction)).toMatchObject(unknown);
    }
    expect(await read(now)).toEqual({ id: "1", description: "important" });
  });

  it("reads rows that a migration has not changed, and no default in others", async () => {
    const old = await open(body);
    await old.notes.create({ data: { id: "1", body: "a" } });
    await old.notes.create({ data: { id: "2", body: "b" } });
    const now = await open(description, [first]);
    const stop = new AbortController();
    const onProgress = ({ phase }: { phase: string }) => phase === "transforming" && stop.abort();
    expect((await migrate(now, { signal: stop.signal, onProgress })).status).toBe("stopped");
    await now.notes.update({ where: { id: "2" }, data: { description: "B" } });
    const again = await open(body);
    expect(await read(again)).toEqual({ id: "1", body: "a" });
    const other = again.notes.findUnique({ where: { id: "2" } });
    expect(await rejection(other)).toMatchObject(unknown);
  });

  it("is known to be older also if the database never had its schema", async () => {
    const now = await open(text, [first, second]);
    await now.notes.create({ data: { id: "1", text: "important" } });
    for (const schema of [body, description]) {
      const old = await open(schema);
      expect(await rejection(read(old))).toMatchObject({ code: "KW_STALE_SCHEMA" });
    }
    await kv.close();
    kv = await openKv();
    await (await open(body)).notes.create({ data: { id: "1", body: "important" } });
    await migrate(await open(text, [first, second]));
    const between = await open(description, [first]);
    expect(await rejection(read(between))).toMatchObject({ code: "KW_STALE_SCHEMA" });
  });

  it("does not bring back a field by its default unless that is accepted", async () => {
    const old = await open(body);
    await old.notes.create({ data: { id: "1", body: "important" } });
    const removed = z.object({ id: z.string() });
    const drop = defineMigration({
      model: notes(removed).notes,
      from: body,
      to: removed,
      up: ({ id }: Row) => ({ id }),
    } as never);
    await migrate(await open(removed, [drop]));
    const again = await migrate(old);
    expect(again.status).toBe("refused");
    expect(again.plan.steps.map(({ class: kind }) => kind)).toContain("breaking");
  });

  it("is told which values a rollback does not bring back, and which migration is missing", async () => {
    const back = defineMigration({
      ...{ name: "descriptions", model: notes(description).notes, from: body, to: description },
      up: ({ body: value, ...row }: Row) => ({ ...row, description: value }),
      down: ({ description: value, ...row }: Row) => ({ ...row, body: value }),
    } as never);
    await (await open(body)).notes.create({ data: { id: "1", body: "important" } });
    await migrate(await open(description, [back]));
    expect(await undoableMigrations(await open(description, [back]))).toEqual([
      { name: "descriptions", model: "notes" },
    ]);
    const bare = z.object({ id: z.string() });
    const now = await open(bare, [back]);
    expect((await migrate(now, { accept: true })).status).toBe("done");
    const [undone] = await undoableMigrations(now);
    expect(undone?.obstacle).toBe(
      'no down leads back to the rows that it made, which differ in "description"',
    );
    const { steps } = await planMigration(await open(body, [back]));
    const text = steps.map(({ reason }) => reason).join(" ");
    expect(text).toContain('"body" gets its default in every row: the values that rows had in it');
    expect(text).toContain('The down of the migration "descriptions" leads on to the model');
    expect(text).toContain('they differ in "description"');
    expect(steps.map((step) => step.class)).toContain("breaking");
  });
});
