import { type EmbeddedKv, openKv } from "@keywright/core";
import { type CreateInput, migrate, type ResultRow, type UpdateInput } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type * as z from "zod";
import * as keys from "./fixtures/keys/src/generated/index.js";
import type { Page } from "./fixtures/keys/src/models/page.js";
import type { Task } from "./fixtures/keys/src/models/task.js";
import * as plain from "./fixtures/plain/generated/index.js";
import type { City } from "./fixtures/plain/models/city.js";
import * as tenants from "./fixtures/tenants/generated/index.js";
import type Member from "./fixtures/tenants/member.js";

let kv: EmbeddedKv;

beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

it("has the types that Zod and the ORM infer", () => {
  const isSame: {
    cityRow: Same<plain.CityRow, z.output<typeof City.schema>>;
    cityCreate: Same<plain.CityCreate, CreateInput<typeof City>>;
    cityUpdate: Same<plain.CityUpdate, UpdateInput<typeof City>>;
    taskRow: Same<keys.TaskRow, z.output<typeof Task.schema>>;
    taskCreate: Same<keys.TaskCreate, CreateInput<typeof Task>>;
    taskUpdate: Same<keys.TaskUpdate, UpdateInput<typeof Task>>;
    pageRow: Same<keys.PageRow, z.output<typeof Page.schema>>;
    pageCreate: Same<keys.PageCreate, CreateInput<typeof Page>>;
    pageUpdate: Same<keys.PageUpdate, UpdateInput<typeof Page>>;
    memberRow: Same<tenants.TeamMembersRow, ResultRow<typeof Member>>;
    memberCreate: Same<tenants.TeamMembersCreate, CreateInput<typeof Member>>;
    memberUpdate: Same<tenants.TeamMembersUpdate, UpdateInput<typeof Member>>;
  } = {
    cityRow: true,
    cityCreate: true,
    cityUpdate: true,
    taskRow: true,
    taskCreate: true,
    taskUpdate: true,
    pageRow: true,
    pageCreate: true,
    pageUpdate: true,
    memberRow: true,
    memberCreate: true,
    memberUpdate: true,
  };
  expect(Object.values(isSame)).not.toContain(false);
});

describe("a plain model", () => {
  const oslo = {
    cityId: 3143244,
    name: "Oslo",
    country: "NO",
    population: 580_000,
    location: { longitude: 10.75, latitude: 59.91 },
  };

  it("creates, finds, updates and deletes rows", async () => {
    const { cities } = await plain.openRepositories(kv);
    const created = await cities.create(oslo);
    expect(created).toEqual({ ...oslo, id: expect.any(String) });
    expect(await cities.findById(created.id)).toEqual(created);
    expect(await cities.findByCityId(3143244)).toEqual(created);
    expect(await cities.findByCityId(1)).toBeNull();
    const updated = await cities.update(created.id, { population: 700_000, name: undefined });
    expect(updated).toEqual({ ...created, population: 700_000 });
    expect(await cities.delete(created.id)).toEqual(updated);
    expect(await cities.findById(created.id)).toBeNull();
  });

  it("lists by a value, by bounds, and everything, in pages and in both orders", async () => {
    const { cities } = await plain.openRepositories(kv);
    for (const [name, country, population] of [
      ["Bergen", "NO", 3],
      ["Lund", "SE", 1],
      ["Oslo", "NO", 5],
      ["Umeå", "SE", 2],
    ] as const) {
      await cities.create({ ...oslo, name, country, population, cityId: population });
    }
    const names = (page: { items: plain.CityRow[] }) => page.items.map(({ name }) => name);
    expect(names(await cities.listByCountry("SE"))).toEqual(["Lund", "Umeå"]);
    expect(names(await cities.listByPopulation({ gte: 2, lt: 5 }))).toEqual(["Umeå", "Bergen"]);
    const first = await cities.listByPopulation({}, { order: "desc", take: 3 });
    expect(names(first)).toEqual(["Oslo", "Bergen", "Umeå"]);
    const rest = await cities.listByPopulation({}, { order: "desc", cursor: first.cursor });
    expect(names(rest)).toEqual(["Lund"]);
    expect(names(await cities.listByCityId({ gt: 3 }))).toEqual(["Oslo"]);
  });

  it("has a database that migrate takes", async () => {
    const { database } = await plain.openRepositories(kv);
    const { plan, ...result } = await migrate(database);
    expect(result).toEqual({
      status: "done",
      indexes: [],
      dangling: [],
      dropped: [],
      unindexed: [],
      unindexedCount: 0,
      failed: [],
    });
    expect(plan).toMatchObject({ isEmpty: true, models: [{ model: "cities", steps: [] }] });
  });

  it("has a transaction whose database has all queries and writes", async () => {
    const { cities, database, transaction } = await plain.openRepositories(kv);
    const { id } = await cities.create(oslo);
    const counts = await transaction(async (tx) => {
      await tx.cities.create({ ...oslo, cityId: 1, name: "Bergen" });
      const raised = await tx.database.cities.updateMany({
        where: { country: "NO" },
        data: { population: { increment: 1 } },
      });
      const bergen: { name: string } | null = await tx.database.cities.findUnique({
        where: { cityId: 1 },
        select: { name: true },
      });
      expect(bergen).toEqual({ name: "Bergen" });
      expect(await tx.cities.findById(id)).toMatchObject({ population: 580_001 });
      // Nothing is committed yet.
      expect(await cities.findById(id)).toMatchObject({ population: 580_000 });
      await tx.database.cities.delete({ where: { cityId: 1 } });
      return raised.count;
    });
    expect(counts).toBe(2);
    expect((await cities.scan()).items).toMatchObject([{ name: "Oslo", population: 580_001 }]);
    await expect(
      transaction(async (tx) => {
        await tx.database.cities.deleteMany({ where: { country: "NO" } });
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await cities.findById(id)).not.toBeNull();
    const bypassing = transaction(async () => database.cities.delete({ where: { id } }));
    await expect(bypassing).rejects.toMatchObject({ code: "KW_TRANSACTION_BYPASSED" });
    // @ts-expect-error: there is no transaction within a transaction.
    await transaction(async (tx) => expect(tx.database.transaction).toBeUndefined());
  });

  it("has snapshots, whose repositories only read", async () => {
    const { cities, snapshot } = await plain.openRepositories(kv);
    const { id } = await cities.create(oslo);
    await snapshot(async (view) => {
      await cities.delete(id);
      expect(await view.cities.findById(id)).toMatchObject({ name: "Oslo" });
      expect(await view.cities.select({ name: true }).findById(id)).toEqual({ name: "Oslo" });
      const all: { items: readonly { name: string }[] } = await view.database.cities.scan();
      expect(all.items).toMatchObject([{ name: "Oslo" }]);
      expect(await view.cities.count()).toBe(1);
      // @ts-expect-error: it writes.
      await expect(view.cities.delete(id)).rejects.toMatchObject({ code: "KW_SNAPSHOT_READ_ONLY" });
      // @ts-expect-error: it reads more than once.
      expect(() => view.cities.watchById(id)).toThrow("the view of a snapshot");
      // @ts-expect-error: it writes.
      expect(view.database.cities.create).toBeDefined();
    });
    expect(await cities.count()).toBe(0);
  });

  it("takes no field that the schema does not have, nor a value of another type", async () => {
    const { cities } = await plain.openRepositories(kv);
    // @ts-expect-error: the country is missing.
    await expect(cities.create({ ...oslo, country: undefined })).rejects.toThrow();
    // @ts-expect-error: a primary key cannot be changed.
    await expect(cities.update("x", { id: "y" })).rejects.toThrow();
    // @ts-expect-error: it is a number.
    const found = cities.findByCityId("3143244");
    await expect(found).rejects.toMatchObject({ code: "KW_QUERY_INVALID" });
  });
});

describe("a model with every kind of field and index", () => {
  const task = {
    teamId: "a",
    number: 1,
    title: "Write it",
    priority: 2,
    assignee: null,
    size: 5n,
    hash: new Uint8Array([1, 2]),
    done: false,
    estimate: "unknown",
    event: { type: "moved", to: "b" },
    votes: { ada: 1 },
    flags: { pinned: true },
    range: [1],
    path: ["a", 1, 2],
    steps: [{ title: "first" }],
    watchers: new Set(["ada"]),
    visits: new Map([["ada", new Date(5)]]),
    slug: "write-it",
    point: "1,2",
    count: "7",
    comments: [{ author: "ada", text: "yes", replies: [{ author: "b", text: "", replies: [] }] }],
    anything: null,
  } as const;
  const input: keys.TaskCreate = {
    ...task,
    range: [1],
    comments: structuredClone(task.comments) as never,
  };

  it("stores and returns what the types say", async () => {
    const { tasks } = await keys.openRepositories(kv);
    const created = await tasks.create(input);
    expect(created).toMatchObject({
      state: "open",
      labels: [],
      slug: { text: "write-it" },
      count: 7,
      "display name": "nobody",
      created: expect.any(Date),
    });
    expect(await tasks.findById(created.id)).toEqual(created);
  });

  it("finds by unique indexes, of one field and of two", async () => {
    const { tasks } = await keys.openRepositories(kv);
    const created = await tasks.create(input);
    expect(await tasks.findByNumber(1)).toEqual(created);
    expect(await tasks.findByTeamAndTitle("a", "Write it")).toEqual(created);
    expect(await tasks.findByTeamAndTitle("a", "Other")).toBeNull();
    const again = tasks.create({ ...input, title: "Other" });
    await expect(again).rejects.toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byNumber" });
  });

  it("lists by compound indexes: values first, then a value or bounds", async () => {
    const { tasks } = await keys.openRepositories(kv);
    let number = 0;
    for (const teamId of ["a", "b"]) {
      for (const score of [1, 2, 3]) {
        const title = `${teamId}${score}`;
        await tasks.create({
          ...input,
          number: ++number,
          teamId,
          title,
          score,
          due: new Date(score),
        });
      }
    }
    await tasks.create({ ...input, number: 9, title: "without a score" });
    const titles = (page: { items: keys.TaskRow[] }) => page.items.map(({ title }) => title);
    expect(titles(await tasks.listByTeamAndScore({}))).toEqual([
      "a1",
      "a2",
      "a3",
      "b1",
      "b2",
      "b3",
    ]);
    expect(titles(await tasks.listByTeamAndScore({ teamId: "b" }))).toEqual(["b1", "b2", "b3"]);
    expect(titles(await tasks.listByTeamAndScore({ teamId: { gt: "a" } }, { take: 1 }))).toEqual([
      "b1",
    ]);
    expect(titles(await tasks.listByTeamAndScore({ teamId: "a", score: 2 }))).toEqual(["a2"]);
    expect(titles(await tasks.listByTeamAndScore({ teamId: "a", score: { gte: 2 } }))).toEqual([
      "a2",
      "a3",
    ]);
    const open = { teamId: "b", state: "open" } as const;
    expect(titles(await tasks.listByTeamStateAndDue(open, { order: "desc" }))).toEqual([
      "b3",
      "b2",
      "b1",
    ]);
    const until = { ...open, due: { lte: new Date(2) } };
    const exact = { teamId: { equals: open.teamId }, state: { equals: open.state } };
    expect(titles(await tasks.listByTeamStateAndDue(exact, { order: "desc" }))).toEqual(
      titles(await tasks.listByTeamStateAndDue(open, { order: "desc" })),
    );
    expect(titles(await tasks.listByTeamStateAndDue(until))).toEqual(["b1", "b2"]);
    // @ts-expect-error: bounds on a field leave nothing to say of the next one.
    const gap = tasks.listByTeamAndScore({ teamId: { gt: "a" }, score: 1 });
    await expect(gap).rejects.toMatchObject({ code: "KW_QUERY_UNINDEXED" });
    // @ts-expect-error: the first field comes first.
    await expect(tasks.listByTeamAndScore({ score: 1 })).rejects.toMatchObject({
      code: "KW_QUERY_UNINDEXED",
    });
  });

  it("lists by values that are normalized, bytes, bigints, and of fields with strange names", async () => {
    const { tasks } = await keys.openRepositories(kv);
    const { id } = await tasks.create(input);
    const ids = (page: { items: keys.TaskRow[] }) => page.items.map((row) => row.id);
    expect(ids(await tasks.listByTitle("WRITE IT"))).toEqual([id]);
    expect(ids(await tasks.listByHash(new Uint8Array([1, 2])))).toEqual([id]);
    expect(ids(await tasks.listBySize({ gte: 5n, lte: 5n }))).toEqual([id]);
    expect(ids(await tasks.listByDisplayName("nobody"))).toEqual([id]);
    expect(ids(await tasks.listByPriority(2))).toEqual([id]);
    expect(ids(await tasks.listByDone({ done: false, created: { gt: new Date(0) } }))).toEqual([
      id,
    ]);
    // Null is in no index.
    expect(ids(await tasks.listByAssignee({}))).toEqual([]);
  });

  it("has models whose names are those of imports, and a primary key that is not generated", async () => {
    const { pageViews } = await keys.openRepositories(kv);
    const page = await pageViews.create({ url: "https://example.com/", tags: ["a"] });
    expect(page).toEqual({ url: "https://example.com/", hits: 0, tags: ["a"] });
    expect(await pageViews.findByUrl(page.url)).toEqual(page);
  });
});

describe("a model with a composite primary key", () => {
  it("takes its parts one by one", async () => {
    const { teamMembers } = await tenants.openRepositories(kv);
    const ada = await teamMembers.create({ tenantId: "t", id: 1, email: "ada@x.org", data: "d" });
    await teamMembers.create({ tenantId: "t", id: 2, data: "d" });
    expect(ada.label).toBe("t/1");
    expect(await teamMembers.findByTenantIdAndId("t", 1)).toEqual(ada);
    expect(await teamMembers.findByTenantIdAndId("u", 1)).toBeNull();
    expect(await teamMembers.findByEmail("ADA@x.org")).toEqual(ada);
    expect((await teamMembers.listByData("d")).items).toHaveLength(2);
    expect(await teamMembers.update("t", 1, { data: "e" })).toEqual({ ...ada, data: "e" });
    expect(await teamMembers.delete("t", 1)).toEqual({ ...ada, data: "e" });
    expect(await teamMembers.findByTenantIdAndId("t", 1)).toBeNull();
    expect(await teamMembers.findByTenantIdAndId("t", 2)).not.toBeNull();
  });
});
