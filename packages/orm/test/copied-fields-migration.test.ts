import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineMigration,
  defineModel,
  desc,
  IndexNotReadyError,
  migrate,
  StaleSchemaError,
} from "../src/index.js";
import { planMigration, verifyIndexes } from "../src/migrate.js";
import { Crash, crashAtEachCommit, crashingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const issueFields = { id: z.string(), priority: z.int() };
const Issue = defineModel({ name: "issues", schema: z.object(issueFields), primaryKey: "id" });
const linkFields = { issueId: z.string(), labelId: z.string() };
const key = ["issueId", "labelId"] as const;
const Link = defineModel({
  name: "links",
  schema: z.object(linkFields),
  primaryKey: key,
  relations: { issue: belongsTo("issues", "issueId") },
});
const CopyingLink = defineModel({
  name: "links",
  schema: z.object({ ...linkFields, priority: z.int().default(-1) }),
  primaryKey: key,
  indexes: { byPriority: { key: ["labelId", desc("priority")] } },
  relations: { issue: belongsTo("issues", "issueId", { copy: { priority: "priority" } }) },
});
const before = { issues: Issue, links: Link };
const after = { issues: Issue, links: CopyingLink };
const rows = 40;

let kv: EmbeddedKv;

async function fill(target: EmbeddedKv): Promise<void> {
  const db = await createDatabase({ kv: target, models: before });
  const ids = Array.from({ length: rows }, (_, i) => `i${i}`);
  await db.issues.createMany({ data: ids.map((id, i) => ({ id, priority: i })) });
  await db.links.createMany({ data: ids.map((issueId) => ({ issueId, labelId: "bug" })) });
}

async function expectFilled(target: EmbeddedKv): Promise<void> {
  const db = await createDatabase({ kv: target, models: after });
  const query = { where: { labelId: "bug" }, orderBy: { priority: "desc" } } as const;
  const { items } = await db.links.findMany({ ...query, take: 100 });
  expect(items).toHaveLength(rows);
  for (const { issueId, priority } of items) {
    expect((await db.issues.findUniqueOrThrow({ where: { id: issueId } })).priority).toBe(priority);
  }
  await expectIndexesToMatch(target, CopyingLink);
  expect((await verifyIndexes(db)).status).toBe("clean");
}

beforeEach(async () => {
  kv = await openKv();
  await fill(kv);
});
afterEach(() => kv.close());

it("migrate fills a new copied field before its index can be read", async () => {
  const old = await createDatabase({ kv, models: before });
  const db = await createDatabase({ kv, models: after });
  const { steps } = await planMigration(db);
  expect(steps.map(({ id }) => id)).toContain("links.issueId: fill-copies");
  expect((await migrate(db)).status).toBe("done");
  await expectFilled(kv);
  expect((await planMigration(db)).isEmpty).toBe(true);
  const error = await rejection(old.issues.update({ where: { id: "i1" }, data: { priority: 2 } }));
  expect(error).toBeInstanceOf(StaleSchemaError);
});

it("an index on a field that is not filled yet cannot be read", async () => {
  const Plain = defineModel({ ...CopyingLink, relations: Link.relations });
  const plain = await createDatabase({ kv, models: { issues: Issue, links: Plain } });
  await migrate(plain);
  const where = { labelId: "bug" };
  expect((await plain.links.findMany({ where })).items[0]?.priority).toBe(-1);
  const db = await createDatabase({ kv, models: after });
  const query = { where, orderBy: { priority: "desc" } } as const;
  expect(await rejection(db.links.findMany(query))).toBeInstanceOf(IndexNotReadyError);
  await migrate(db);
  await expectFilled(kv);
});

it("a killed run is finished by the next one", async () => {
  await crashAtEachCommit(async (at) => {
    const own = await openKv();
    await fill(own);
    const crashing = crashingKv(own, at, "after") as EmbeddedKv;
    const run = async () => migrate(await createDatabase({ kv: crashing, models: after }));
    const hasCrashed = await run().then(
      () => false,
      (error: unknown) => {
        if (!(error instanceof Crash)) throw error;
        return true;
      },
    );
    await own.delete(["__keywright", "lease"]);
    await migrate(await createDatabase({ kv: own, models: after }));
    await expectFilled(own);
    await own.close();
    return hasCrashed;
  });
});

it("rows that are written during a run are right", async () => {
  const db = await createDatabase({ kv, models: after });
  let isDone = false;
  const run = migrate(db, { rowsPerSecond: 200 }).finally(() => {
    isDone = true;
  });
  for (let n = 0; !isDone; n++) {
    const data = { priority: 1000 + n };
    await db.issues.update({ where: { id: `i${n % rows}` }, data }).catch((error) => {
      // Until both models have begun to be migrated.
      if (error.code !== "KW_STALE_SCHEMA") throw error;
    });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await run;
  await expectFilled(kv);
});

it("a migration of the copied rows changes the copies with them", async () => {
  await migrate(await createDatabase({ kv, models: after }));
  const from = z.object(issueFields);
  const to = z.object({ ...issueFields, size: z.int() });
  const Wider = defineModel({ name: "issues", schema: to, primaryKey: "id" });
  const migration = defineMigration({
    name: "times ten",
    changes: ["priority"],
    model: Wider,
    from,
    to,
    up: ({ id, priority }) => ({ id, priority: priority * 10, size: 1 }),
  });
  const models = { issues: Wider, links: CopyingLink };
  const db = await createDatabase({ kv, models, migrations: [migration] });
  expect(await migrate(db)).toMatchObject({ status: "done", failed: [] });
  const { items } = await db.links.findMany({
    where: { labelId: "bug" },
    orderBy: { priority: "desc" },
    take: 2,
  });
  expect(items.map(({ priority }) => priority)).toEqual([390, 380]);
  await expectIndexesToMatch(kv, CopyingLink);
});

it("migrate fills copies that a program without the copying model has left outdated", async () => {
  const own = await openKv();
  const alone = await createDatabase({ kv: own, models: { issues: Issue } });
  await alone.issues.create({ data: { id: "i", priority: 1 } });
  const db = await createDatabase({ kv: own, models: after });
  await db.links.create({ data: { issueId: "i", labelId: "bug" } });
  await alone.issues.update({ where: { id: "i" }, data: { priority: 2 } });
  const query = { where: { labelId: "bug" }, orderBy: { priority: "desc" } } as const;
  expect(await rejection(db.links.findMany(query))).toBeInstanceOf(IndexNotReadyError);
  expect((await planMigration(db)).steps.map(({ id }) => id)).toEqual([
    "issues.links by issueId: add-relation",
    "links.issueId: fill-copies",
  ]);
  expect((await migrate(db)).status).toBe("done");
  expect((await db.links.findMany(query)).items[0]?.priority).toBe(2);
  // The other program would have to accept that the copies become outdated.
  const only = await createDatabase({ kv: own, models: { issues: Issue } });
  expect((await migrate(only)).status).toBe("refused");
  expect((await migrate(only, { accept: true })).status).toBe("done");
  await only.issues.update({ where: { id: "i" }, data: { priority: 3 } });
  const again = await createDatabase({ kv: own, models: after });
  expect(await rejection(again.links.findMany(query))).toBeInstanceOf(IndexNotReadyError);
  expect((await migrate(again)).status).toBe("done");
  expect((await again.links.findMany(query)).items[0]?.priority).toBe(3);
  await own.close();
});

it("a change of onDelete, or a further copy, leaves the index of other copies readable", async () => {
  await migrate(await createDatabase({ kv, models: after }));
  const relations = {
    issue: belongsTo("issues", "issueId", {
      onDelete: "cascade",
      copy: { priority: "priority", title: "id" },
    }),
  } as const;
  const schema = z.object({
    ...linkFields,
    priority: z.int().default(-1),
    title: z.string().optional(),
  });
  const Further = defineModel({ ...CopyingLink, schema, relations } as never);
  const db = await createDatabase({ kv, models: { issues: Issue, links: Further } as never });
  const links = (db as unknown as { links: Awaited<ReturnType<typeof openAfter>>["links"] }).links;
  const query = { where: { labelId: "bug" }, orderBy: { priority: "desc" }, take: 1 } as const;
  expect((await links.findMany(query)).items[0]?.priority).toBe(rows - 1);
});

const openAfter = async () => await createDatabase({ kv, models: after });

it("a migration of the rows with copies keeps them", async () => {
  await migrate(await openAfter());
  const from = CopyingLink.schema;
  const to = z.object({ ...linkFields, priority: z.int().default(-1), size: z.int() });
  const Sized = defineModel({ ...CopyingLink, schema: to } as never);
  const migration = defineMigration({
    model: Sized,
    from,
    to,
    changes: ["priority"],
    up: ({ issueId, labelId }: { issueId: string; labelId: string }) => {
      return { issueId, labelId, priority: -1, size: 1 };
    },
  } as never);
  const models = { issues: Issue, links: Sized } as never;
  const db = await createDatabase({ kv, models, migrations: [migration] });
  expect((await migrate(db)).status).toBe("done");
  expect((await verifyIndexes(db)).status).toBe("clean");
  const { value } = await kv.get<{ priority: number; size: number }>(["links", "i7", "bug"]);
  expect(value).toMatchObject({ priority: 7, size: 1 });
});

it("rows whose other reference leads nowhere are filled too", async () => {
  await kv.delete(["issues", "i3"]);
  const both = defineModel({
    ...CopyingLink,
    indexes: { ...CopyingLink.indexes, byLabel: { key: "labelId" } },
    relations: {
      issue: belongsTo("issues", "issueId", { copy: { priority: "priority" } }),
      label: belongsTo("issues", "labelId"),
    },
  });
  const db = await createDatabase({ kv, models: { issues: Issue, links: both } });
  expect((await migrate(db)).status).toBe("done");
  const key = (id: string) => ({ where: { issueId: id, labelId: "bug" } });
  expect((await db.links.findUniqueOrThrow(key("i5"))).priority).toBe(5);
  expect((await verifyIndexes(db)).status).toBe("clean");
});

it("programs without a copy that was removed can write after migrate", async () => {
  await migrate(await createDatabase({ kv, models: after }));
  const Plain = defineModel({ ...CopyingLink, relations: Link.relations });
  const plain = await createDatabase({ kv, models: { issues: Issue, links: Plain } });
  expect((await planMigration(plain)).steps.map(({ kind }) => kind)).toEqual([
    "drop-relation",
    "change-relation",
  ]);
  expect((await migrate(plain)).status).toBe("refused");
  expect((await migrate(plain, { accept: true })).status).toBe("done");
  await plain.issues.update({ where: { id: "i1" }, data: { priority: 500 } });
  const link = { where: { issueId: "i1", labelId: "bug" }, data: { priority: 3 } };
  expect((await plain.links.update(link)).priority).toBe(3);
});

it("rows without a reference get the defaults, and verify finds those that lack them", async () => {
  const schema = z.object({
    id: z.string(),
    issueId: z.string().nullable(),
    priority: z.int().default(-1),
    note: z.string().optional(),
  });
  const onDelete = "setNull";
  const build = (copy: object) =>
    defineModel({
      name: "reports",
      schema,
      primaryKey: "id",
      indexes: { byIssue: { key: "issueId" }, byPriority: { key: "priority" } },
      relations: { issue: belongsTo("issues", "issueId", { onDelete, ...copy }) },
    });
  const old = await createDatabase({ kv, models: { issues: Issue, reports: build({}) } });
  await old.reports.createMany({
    data: [
      { id: "none", issueId: null, priority: 6 },
      { id: "some", issueId: "i3", priority: 6 },
    ],
  });
  const Report = build({ copy: { priority: "priority" } });
  const db = await createDatabase({ kv, models: { issues: Issue, reports: Report } });
  expect((await migrate(db)).status).toBe("done");
  const priorities = async () =>
    (await db.reports.scan()).items.map(({ id, priority }) => `${id} ${priority}`);
  expect(await priorities()).toEqual(["none -1", "some 3"]);
  expect((await verifyIndexes(db)).status).toBe("clean");

  const entry = await kv.get<object>(["reports", "none"]);
  await kv.set(["reports", "none"], { ...entry.value, priority: 6, note: "stays" });
  const found = await verifyIndexes(db);
  expect(found.models.flatMap(({ copies }) => copies.first)).toEqual([
    { model: "reports", id: "none", relation: "issue", fields: ["priority"] },
  ]);
  await verifyIndexes(db, { repair: true });
  expect(await priorities()).toEqual(["none -1", "some 3"]);
  expect((await db.reports.findUnique({ where: { id: "none" } }))?.note).toBe("stays");
  expect((await verifyIndexes(db)).status).toBe("clean");
});
