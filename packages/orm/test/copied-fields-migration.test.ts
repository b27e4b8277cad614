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
  planMigration,
  StaleSchemaError,
  verifyIndexes,
} from "../src/index.js";
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
}, 60_000);

it("rows that are written beside a run are right", async () => {
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

it("programs without a copy that was removed can write after migrate", async () => {
  await migrate(await createDatabase({ kv, models: after }));
  const Plain = defineModel({ ...CopyingLink, relations: Link.relations });
  const plain = await createDatabase({ kv, models: { issues: Issue, links: Plain } });
  expect((await planMigration(plain)).steps.map(({ kind }) => kind)).toEqual(["change-relation"]);
  expect((await migrate(plain)).status).toBe("done");
  await plain.issues.update({ where: { id: "i1" }, data: { priority: 500 } });
  const link = { where: { issueId: "i1", labelId: "bug" }, data: { priority: 3 } };
  expect((await plain.links.update(link)).priority).toBe(3);
});
