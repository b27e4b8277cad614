import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, type Database, defineModel } from "../src/index.js";
import { rejection } from "./user-model.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.string(),
    owner: z.string(),
    helper: z.string(),
    at: z.int(),
    state: z.enum(["open", "done"]),
    closedAt: z.int().nullish(),
    due: z.int().nullable(),
  }),
  primaryKey: "id",
  indexes: {
    byOwner: { key: ["owner", "at"] },
    byHelper: { key: ["helper", "at"] },
    byDue: { key: "due" },
    byOpen: { key: "at", where: { closedAt: null } },
    byOpenOfOwner: { key: ["owner", "at"], where: { closedAt: null, state: "open" } },
  },
});

let kv: EmbeddedKv;
let db: Database<{ tasks: typeof Task }>;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { tasks: Task } });
  const task = (id: string, owner: string, helper: string, at: number, rest: object = {}) =>
    db.tasks.create({ data: { id, owner, helper, at, state: "open", due: null, ...rest } });
  await task("1", "ada", "bob", 4);
  await task("2", "bob", "ada", 3, { closedAt: 9, state: "done" });
  await task("3", "cyd", "cyd", 2, { closedAt: null, due: 7 });
  await task("4", "ada", "ada", 1, { state: "done" });
});
afterEach(() => kv.close());

const idsOf = ({ items }: { readonly items: readonly { readonly id: string }[] }) =>
  items.map(({ id }) => id);

describe("a condition on null", () => {
  it("finds the rows that lack the field, by an index with the same where", async () => {
    const open = { closedAt: null } as const;
    expect(idsOf(await db.tasks.findMany({ where: open }))).toEqual(["4", "3", "1"]);
    const last = { where: open, orderBy: { at: "desc" } } as const;
    expect(idsOf(await db.tasks.findMany(last))).toEqual(["1", "3", "4"]);
    const early = { ...open, at: { lt: 3 } };
    expect(idsOf(await db.tasks.findMany({ where: early }))).toEqual(["4", "3"]);
    expect(await db.tasks.count({ where: open })).toBe(3);
    expect(await db.tasks.exists({ where: { ...open, at: 3 } })).toBe(false);
    const ofAda = { closedAt: null, state: "open", owner: "ada" } as const;
    expect(idsOf(await db.tasks.findMany({ where: ofAda }))).toEqual(["1"]);
    expect(await db.tasks.explain({ where: ofAda })).toMatchObject({ index: "byOpenOfOwner" });
    const generated = rowsOf<{ id: string }, object, object>(db, "tasks");
    const listed = await generated.findMany({ index: "byOpen", where: { at: { lt: 3 } } });
    expect(idsOf(listed)).toEqual(["4", "3"]);
    expect((await db.tasks.updateMany({ where: open, data: { closedAt: 5 } })).count).toBe(3);
    expect(await db.tasks.count({ where: open })).toBe(0);
  });

  it("suggests the index with that where if there is none", async () => {
    const lacking = { due: null } as never;
    const error = await rejection(db.tasks.count({ where: lacking }));
    expect(error).toMatchObject({
      code: "KW_QUERY_UNINDEXED",
      suggestion: 'byIdWithoutDue: { key: "id", where: { due: null } }',
    });
    const query = { where: { due: null, owner: "ada" }, orderBy: { at: "asc" } } as never;
    expect(await rejection(Promise.resolve(db.tasks.findMany(query)))).toMatchObject({
      suggestion: 'byOwnerAndAtWithoutDue: { key: ["owner", "at"], where: { due: null } }',
    });
  });

  it("is refused if no row can lack the field, or next to a value", async () => {
    for (const where of [{ owner: null }, { at: { gte: null } }, { closedAt: { in: [null, 1] } }]) {
      const error = await rejection(db.tasks.count({ where: where as never }));
      expect(error.code).toBe("KW_QUERY_INVALID");
    }
  });

  it("explain says which rows an order leaves out", async () => {
    const byDue = await db.tasks.explain({ orderBy: { due: "asc" }, index: "byDue" });
    expect(byDue).toMatchObject({ index: "byDue", leavesOut: ["due"] });
    expect((await db.tasks.explain({ where: { due: 7 } })).leavesOut).toEqual([]);
    expect((await db.tasks.explain({ orderBy: { id: "asc" } })).leavesOut).toEqual([]);
  });
});

const ofAda = { OR: [{ owner: "ada" }, { helper: "ada" }] } as const;

describe("OR", () => {
  it("merges the rows of several indexes in their common order, each row once", async () => {
    expect(idsOf(await db.tasks.findMany({ where: ofAda }))).toEqual(["4", "2", "1"]);
    const last = { where: ofAda, orderBy: { at: "desc" } } as const;
    expect(idsOf(await db.tasks.findMany(last))).toEqual(["1", "2", "4"]);
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string }[]; cursor: string | null } = await db.tasks.findMany({
        ...last,
        take: 1,
        cursor,
      });
      pages.push(idsOf(page));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(pages).toEqual([["1"], ["2"], ["4"]]);
    expect(await db.tasks.count({ where: ofAda })).toBe(3);
    expect(await db.tasks.exists({ where: ofAda })).toBe(true);
    expect(await db.tasks.explain({ where: ofAda, take: 2 })).toMatchObject({
      index: "byOwner, byHelper",
      kind: "merge",
    });
    await db.transaction(async (tx) => {
      await tx.tasks.update({ where: { id: "3" }, data: { helper: "ada" } });
      expect(await tx.tasks.count({ where: ofAda })).toBe(4);
    });
    expect((await db.tasks.deleteMany({ where: ofAda, atomic: true })).count).toBe(4);
  });

  it("combines with other conditions, and with ranges of one index", async () => {
    const where = { owner: "ada", OR: [{ at: 1 }, { at: { gte: 4 } }, { at: { gt: 3 } }] } as const;
    expect(idsOf(await db.tasks.findMany({ where }))).toEqual(["4", "1"]);
    expect(await db.tasks.explain({ where })).toMatchObject({ index: "byOwner", kind: "range" });
    expect((await db.tasks.explain({ where })).segments).toHaveLength(2);
  });

  it("is watched in all of its indexes", async () => {
    const reader = db.tasks.watchMany({ where: ofAda }).getReader();
    const next = async () => (await reader.read()).value?.map(({ id }) => id);
    expect(await next()).toEqual(["4", "2", "1"]);
    await db.tasks.update({ where: { id: "3" }, data: { helper: "ada" } });
    expect(await next()).toEqual(["4", "3", "2", "1"]);
    await db.tasks.update({ where: { id: "1" }, data: { owner: "cyd" } });
    expect(await next()).toEqual(["4", "3", "2"]);
    await reader.cancel();
  });

  it.each([
    [{ OR: [] }, "KW_QUERY_INVALID", "it is an empty list"],
    [{ OR: {} }, "KW_QUERY_INVALID", "it must be a list"],
    [{ OR: [{}] }, "KW_QUERY_INVALID", "it has no condition"],
    [{ OR: [{ OR: [{ id: "1" }] }] }, "KW_QUERY_INVALID", "it contains OR"],
    [{ id: "1", OR: [{ id: "2" }] }, "KW_QUERY_INVALID", "also has a condition outside OR"],
    [{ OR: [{ owner: 1 }] }, "KW_QUERY_INVALID", "it is a number"],
    [
      { OR: [{ owner: "ada" }, { state: "open" }] },
      "KW_QUERY_UNINDEXED",
      'no index serves "state"',
    ],
    [{ OR: [{ owner: "ada" }, { id: "1" }] }, "KW_QUERY_UNINDEXED", "in the same order"],
  ])("%j is refused: %s, %s", async (where, code, text) => {
    for (const call of [
      () => db.tasks.findMany({ where: where as never }).then(),
      () => db.tasks.count({ where: where as never }),
      () => db.tasks.explain({ where: where as never }),
    ]) {
      const error = await rejection(call());
      expect(error).toMatchObject({ code });
      expect(error.message).toContain(text);
    }
  });
});
