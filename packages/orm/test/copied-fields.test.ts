import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  ModelDefinitionError,
  ReferenceMissingError,
  RowInvalidError,
  StaleSchemaError,
} from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { copiedModels, expectCopiesToMatch } from "./copied-models.js";
import { interferingKv, withoutPages } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";
import { expectReferencesToHold } from "./verify-references.js";

let kv: EmbeddedKv;
let db: Database<typeof copiedModels>;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: copiedModels });
  await db.labels.create({ data: { id: "bug" } });
});
afterEach(async () => {
  await expectCopiesToMatch(db);
  await expectReferencesToHold(kv, copiedModels);
  for (const model of Object.values(copiedModels)) await expectIndexesToMatch(kv, model);
  await kv.close();
});

const linkA = { where: { issueId: "a", labelId: "bug" } };
const createIssue = (
  id: string,
  priority: number,
  more: { title?: string; teamId?: string } = {},
) => db.issues.create({ data: { id, priority, ...more, labels: { connect: { id: "bug" } } } });
const byPriority = async () => {
  const query = { where: { labelId: "bug" }, orderBy: { priority: "desc" } } as const;
  const { items } = await db.issueLabels.findMany(query);
  return items.map(({ issueId, priority }) => `${issueId} ${priority}`);
};

describe("A copied field", () => {
  it("has the value of the other row from the creation of its row", async () => {
    await db.issues.create({ data: { id: "a", priority: 3, title: "A" } });
    await createIssue("b", 5);
    expect(await db.issueLabels.create({ data: linkA.where })).toEqual({
      ...linkA.where,
      priority: 3,
      issueTitle: "A",
      team: "no team",
    });
    expect(await byPriority()).toEqual(["b 5", "a 3"]);
  });

  it("changes in the commit that changes the other row", async () => {
    await createIssue("a", 3);
    await createIssue("b", 5);
    const versioned = { withVersionstamp: true } as const;
    const issue = await db.issues.update({
      where: { id: "a" },
      data: { priority: 7, title: "T" },
      ...versioned,
    });
    const link = await db.issueLabels.findUniqueOrThrow({ ...linkA, ...versioned });
    expect(link.versionstamp).toBe(issue.versionstamp);
    expect(link.row).toMatchObject({ priority: 7, issueTitle: "T" });
    expect(await byPriority()).toEqual(["a 7", "b 5"]);
  });

  it("keeps its row unwritten if other fields of the other row change", async () => {
    await db.teams.create({ data: { id: "t", name: "Core" } });
    await createIssue("a", 3);
    const versioned = { ...linkA, withVersionstamp: true } as const;
    const before = await db.issueLabels.findUniqueOrThrow(versioned);
    await db.issues.update({ where: { id: "a" }, data: { parentId: "a" } });
    expect(await db.issueLabels.findUniqueOrThrow(versioned)).toEqual(before);
  });

  it("follows a copy of a copy", async () => {
    await db.teams.create({ data: { id: "t", name: "Core" } });
    await createIssue("a", 3, { teamId: "t" });
    await db.teams.update({ where: { id: "t" }, data: { name: "Kernel" } });
    expect((await db.issueLabels.findUniqueOrThrow(linkA)).team).toBe("Kernel");
  });

  it("follows the reference to another row, and gets its default without one", async () => {
    await db.teams.createMany({
      data: [
        { id: "t", name: "Core" },
        { id: "u", name: "Web" },
      ],
    });
    await createIssue("a", 3, { teamId: "t" });
    const moved = await db.issues.update({ where: { id: "a" }, data: { teamId: "u" } });
    expect(moved.teamName).toBe("Web");
    await db.teams.delete({ where: { id: "u" } });
    const left = await db.issues.findUniqueOrThrow({ where: { id: "a" } });
    expect([left.teamId, left.teamName]).toEqual([null, "no team"]);
    expect((await db.issueLabels.findUniqueOrThrow(linkA)).team).toBe("no team");
  });

  it("can copy a field of its own row", async () => {
    const data = { id: "a", priority: 3, parentId: "a" };
    expect((await db.issues.create({ data })).parentPriority).toBe(3);
    await db.issues.update({ where: { id: "a" }, data: { priority: 4 } });
  });

  it("changes with updateMany, createMany, nested writes and transactions", async () => {
    await db.issues.createMany({ data: ["a", "b", "c"].map((id, i) => ({ id, priority: i })) });
    await db.issueLabels.createMany({
      data: ["a", "b", "c"].map((issueId) => ({ issueId, labelId: "bug" })),
    });
    await db.issues.updateMany({ filter: () => true, data: { priority: { increment: 10 } } });
    expect(await byPriority()).toEqual(["c 12", "b 11", "a 10"]);
    await db.issues.updateMany({
      filter: () => true,
      data: { priority: { increment: 10 } },
      atomic: true,
    });
    await db.labels.update({
      where: { id: "bug" },
      data: { issues: { update: { where: { id: "a" }, data: { priority: 50 } } } },
    });
    await db.transaction(async (tx) => {
      await tx.issues.update({ where: { id: "b" }, data: { priority: 60 } });
      await tx.issues.create({
        data: { id: "d", priority: 55, labels: { connect: { id: "bug" } } },
      });
      await tx.issues.update({ where: { id: "d" }, data: { priority: 70 } });
    });
    expect(await byPriority()).toEqual(["d 70", "b 60", "a 50", "c 22"]);
  });

  it("is written again if its row is written at the same time", async () => {
    await createIssue("a", 3);
    let isFirst = true;
    const other = await createDatabase({ kv, models: copiedModels });
    const interfering = interferingKv(kv, async () => {
      if (!isFirst) return;
      isFirst = false;
      await other.issueLabels.update({ ...linkA, data: { note: "beside" } });
    });
    const beside = await createDatabase({ kv: interfering, models: copiedModels });
    await beside.issues.update({ where: { id: "a" }, data: { priority: 9 } });
    expect(await db.issueLabels.findUniqueOrThrow(linkA)).toMatchObject({
      priority: 9,
      note: "beside",
    });
  });

  it("is not missed by a row that begins to refer to the other row during its change", async () => {
    await db.issues.create({ data: { id: "a", priority: 3 } });
    let isFirst = true;
    const other = await createDatabase({ kv, models: copiedModels });
    const interfering = interferingKv(kv, async () => {
      if (!isFirst) return;
      isFirst = false;
      await other.issueLabels.create({ data: linkA.where });
    });
    const beside = await createDatabase({ kv: interfering, models: copiedModels });
    await beside.issues.update({ where: { id: "a" }, data: { priority: 9 } });
    expect(await byPriority()).toEqual(["a 9"]);
  });

  it("is not read before a change of the other row, and written after it", async () => {
    await db.issues.create({ data: { id: "a", priority: 3 } });
    let isFirst = true;
    const other = await createDatabase({ kv, models: copiedModels });
    const interfering = interferingKv(kv, async () => {
      if (!isFirst) return;
      isFirst = false;
      await other.issues.update({ where: { id: "a" }, data: { priority: 9 } });
    });
    const beside = await createDatabase({ kv: interfering, models: copiedModels });
    expect((await beside.issueLabels.create({ data: linkA.where })).priority).toBe(9);
  });

  it("is refused in data, whatever its value", async () => {
    await createIssue("a", 3);
    const copied = { priority: 3 } as object;
    const calls = [
      () => db.issueLabels.create({ data: { issueId: "a", labelId: "x", ...copied } }),
      () => db.issueLabels.update({ ...linkA, data: copied }),
      () => db.issueLabels.upsert({ ...linkA, create: linkA.where, update: copied }),
    ];
    for (const call of calls) {
      const error = await rejection(call());
      expect(error).toBeInstanceOf(RowInvalidError);
      expect(error.message).toContain("it is a copy of priority of issue; leave it out");
    }
    const data = [{ issueId: "a", labelId: "x", ...copied }];
    const { results } = await db.issueLabels.createMany({ data });
    expect(results).toMatchObject([{ ok: false, error: { code: "KW_ROW_INVALID" } }]);
  });

  it("needs the row that it copies", async () => {
    const error = await rejection(db.issueLabels.create({ data: linkA.where }));
    expect(error).toBeInstanceOf(ReferenceMissingError);
  });
});

it("a write that changes a copied field and refers to a row that copies it", async () => {
  const A = defineModel({
    name: "a",
    schema: z.object({
      id: z.string(),
      f: z.int(),
      xId: z.string().nullable().default(null),
      h: z.int().nullable().default(null),
    }),
    primaryKey: "id",
    indexes: { byX: { key: "xId" } },
    relations: { x: belongsTo("x", "xId", { copy: { h: "g" } }) },
  });
  const X = defineModel({
    name: "x",
    schema: z.object({ id: z.string(), aId: z.string(), g: z.int().default(0) }),
    primaryKey: "id",
    indexes: { byA: { key: "aId" } },
    relations: { a: belongsTo("a", "aId", { copy: { g: "f" } }) },
  });
  const other = await createDatabase({ kv, models: { a: A, x: X } });
  await other.a.create({ data: { id: "1", f: 1 } });
  await other.x.create({ data: { id: "x", aId: "1" } });
  const written = await other.a.update({ where: { id: "1" }, data: { f: 2, xId: "x" } });
  expect(written.h).toBe(2);
  expect((await verifyIndexes(other)).status).toBe("clean");
});

it("the compiler refuses copied fields in data", async () => {
  await createIssue("a", 3);
  const data = { issueId: "a", labelId: "x", priority: 5 };
  const refused = [
    // @ts-expect-error: the relation maintains it.
    db.issueLabels.create({ data }),
    // @ts-expect-error: the relation maintains it.
    db.issueLabels.update({ ...linkA, data: { priority: 5 } }),
    // @ts-expect-error: the relation maintains it.
    db.issueLabels.updateMany({ where: { labelId: "bug" }, data: { team: "x" } }),
  ];
  const results = await Promise.allSettled(refused);
  expect(results.slice(0, 2).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

describe("A program without the copying model", () => {
  it("cannot write the model that is copied", async () => {
    await db.issues.create({ data: { id: "x", priority: 1 } });
    const Alone = defineModel({ ...copiedModels.issues, relations: {} } as never);
    const alone = await createDatabase({ kv, models: { issues: Alone } });
    const error = await rejection(
      (alone.issues as unknown as typeof db.issues).update({
        where: { id: "x" },
        data: { priority: 2 },
      }),
    );
    expect(error).toBeInstanceOf(StaleSchemaError);
    expect(error.message).toContain('"issue_labels" copies');
  });
});

describe("verifyIndexes", () => {
  it("finds copies that are wrong, and repairs them", async () => {
    await createIssue("a", 3);
    await createIssue("b", 5);
    const key = ["issue_labels", "a", "bug"];
    const { value } = await kv.get<object>(key);
    await kv.set(key, { ...value, issueTitle: "wrong" });
    const found = await verifyIndexes(db);
    expect(found.status).toBe("damaged");
    expect(found.models.find(({ model }) => model === "issue_labels")?.copies).toEqual({
      count: 1,
      first: [
        {
          model: "issue_labels",
          id: ["a", "bug"],
          relation: "issue",
          fields: ["issueTitle"],
        },
      ],
      repaired: 0,
    });
    expect((await verifyIndexes(db, { repair: true })).status).toBe("repaired");
    expect((await verifyIndexes(db)).status).toBe("clean");
  });

  it("finds a copy that is changed by hand, with its reference, while it is confirmed", async () => {
    await db.teams.createMany({
      data: [
        { id: "t", name: "Core" },
        { id: "u", name: "Docs" },
      ],
    });
    await db.issues.create({ data: { id: "a", priority: 1, teamId: "t" } });
    const key = ["issues", "a"];
    const { value } = await kv.get<object>(key);
    const set = (changed: object) => kv.set(key, { ...value, ...changed });
    await set({ teamName: "wrong" });
    const isConfirmed = (keys: readonly KvKey[]) => keys.length === 2 && keys[0]?.[1] === "a";
    const reading: Kv = new Proxy(withoutPages(kv), {
      get(target, property) {
        if (property === "getMany") {
          return async (keys: readonly KvKey[]) => {
            if (isConfirmed(keys)) await set({ teamId: "u", teamName: "Core" });
            return await target.getMany<unknown[]>(keys);
          };
        }
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const other = await createDatabase({ kv: reading, models: copiedModels });
    const { models } = await verifyIndexes(other, { models: ["issues"] });
    expect(models[0]?.copies).toMatchObject({ count: 1, first: [{ fields: ["teamName"] }] });
    await kv.set(key, value);
  });
});

it("verifyIndexes counts a row once that has wrong copies of two relations", async () => {
  await db.teams.create({ data: { id: "t", name: "Core" } });
  await createIssue("p", 1);
  await db.issues.create({ data: { id: "c", priority: 1, teamId: "t", parentId: "p" } });
  const { value } = await kv.get<object>(["issues", "c"]);
  await kv.set(["issues", "c"], { ...value, teamName: "X", parentPriority: 77 });
  const repaired = await verifyIndexes(db, { repair: true });
  expect(repaired.status).toBe("repaired");
  const found = repaired.models.find(({ model }) => model === "issues")?.copies;
  expect(found).toMatchObject({ count: 1, repaired: 1 });
  expect(found?.first.map(({ relation }) => relation)).toEqual(["team", "parent"]);
});

describe("A definition is refused", () => {
  const base = { id: z.string(), name: z.string() };
  const Source = defineModel({ name: "sources", schema: z.object(base), primaryKey: "id" });
  const open = async (fields: z.core.$ZodLooseShape, copy: object, more: object = {}) => {
    const model = {
      name: "copies",
      schema: z.object({ id: z.string(), sourceId: z.string(), ...fields }),
      primaryKey: "id",
      indexes: { bySource: { key: "sourceId" } },
      relations: { source: belongsTo("sources", "sourceId", { copy: copy as never }) },
      ...more,
    };
    const models = { sources: Source, copies: defineModel(model as never) } as never;
    return await createDatabase({ kv: await openKv(), models });
  };
  const text = z.string().default("");

  it.each([
    ["a field that the model lacks", {}, { other: "name" }, {}, 'no field "other"'],
    ["a field that the other model lacks", { a: text }, { a: "nick" }, {}, 'no field "nick"'],
    ["a field without a default", { a: z.string() }, { a: "name" }, {}, "needs a default"],
    ["a field of the primary key", {}, { id: "name" }, {}, "is in the primary key"],
    ["a reference", {}, { sourceId: "name" }, {}, "as its reference"],
    ["another type", { a: z.int().default(0) }, { a: "name" }, {}, "cannot hold all values"],
    [
      "a unique index",
      { a: text },
      { a: "name" },
      { indexes: { bySource: { key: "sourceId" }, byA: { key: "a", unique: true } } },
      'the unique index byA uses "a"',
    ],
    [
      "the condition of a unique index",
      { a: text },
      { a: "name" },
      {
        indexes: {
          bySource: { key: "sourceId" },
          byId: { key: "sourceId", unique: true, where: { a: "x" } },
        },
      },
      'the unique index byId uses "a"',
    ],
    [
      "a field that copies itself",
      { a: text },
      { a: "a" },
      { relations: { self: belongsTo("copies", "sourceId", { copy: { a: "a" } }) } },
      "it would copy itself",
    ],
  ])("for %s", async (_, fields, copy, more, message) => {
    const error = await rejection(open(fields, copy, more));
    expect(error).toBeInstanceOf(ModelDefinitionError);
    expect(error.message).toContain(message);
  });
});
