import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as keys from "./fixtures/keys/src/generated/index.js";
import * as plain from "./fixtures/plain/generated/index.js";
import * as tenants from "./fixtures/tenants/generated/index.js";
import * as totals from "./fixtures/totals/generated/index.js";

let kv: EmbeddedKv;

beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const oslo = {
  cityId: 1,
  name: "Oslo",
  country: "NO",
  population: 580_000,
  location: { longitude: 10.75, latitude: 59.91 },
};
const lund = { ...oslo, cityId: 2, name: "Lund", country: "SE", population: 94_000 };
const task: keys.TaskCreate = {
  teamId: "a",
  number: 1,
  title: "Write it",
  priority: 2,
  assignee: null,
  size: 5n,
  hash: new Uint8Array([1, 2]),
  done: false,
  estimate: null,
  event: { type: "moved", to: "b" },
  labels: ["x", "y"],
  votes: {},
  flags: {},
  range: [1],
  path: ["a"],
  steps: [],
  watchers: new Set(),
  visits: new Map(),
  slug: "write-it",
  point: "1,2",
  count: 7,
  comments: [],
  anything: null,
};
const invalid = { code: "KW_QUERY_INVALID" };

describe("a list", () => {
  it("takes a value, one of several, bounds, and the beginning of a text", async () => {
    const { cities } = await plain.openRepositories(kv);
    await cities.createMany([oslo, lund]);
    const names = (page: { items: plain.CityRow[] }) => page.items.map(({ name }) => name);
    expect(names(await cities.listByCountry("SE"))).toEqual(["Lund"]);
    expect(names(await cities.listByCountry({ in: ["SE", "NO"] }))).toEqual(["Oslo", "Lund"]);
    expect(names(await cities.listByCountry({ startsWith: "S" }))).toEqual(["Lund"]);
    expect(names(await cities.listByPopulation({ between: [94_000, 100_000] }))).toEqual(["Lund"]);
    // @ts-expect-error: a number has no beginning.
    await expect(cities.listByPopulation({ startsWith: "9" })).rejects.toMatchObject(invalid);
  });

  it("takes several values for the fields before the last", async () => {
    const { tasks } = await keys.openRepositories(kv);
    await tasks.createMany([
      { ...task, score: 1 },
      { ...task, score: 3, teamId: "b", number: 2, title: "b" },
      { ...task, score: 5, teamId: "c", number: 3, title: "c" },
    ]);
    const where: keys.TaskByTeamAndScore = { teamId: { in: ["a", "b"] }, score: { gt: 1 } };
    expect((await tasks.listByTeamAndScore(where)).items).toMatchObject([{ number: 2 }]);
  });

  it("is not widened by what is undefined", async () => {
    const { tasks } = await keys.openRepositories(kv);
    await tasks.create({ ...task, score: 1 });
    const teamId = undefined as string | undefined;
    const score = undefined as number | undefined;
    // @ts-expect-error: it may be undefined.
    const ofField = tasks.listByTeamAndScore({ teamId });
    // @ts-expect-error: it may be undefined.
    const ofSecond = tasks.listByTeamAndScore({ teamId: "a", score });
    // @ts-expect-error: it may be undefined.
    const ofBound = tasks.listByTeamAndScore({ teamId: "a", score: { gte: score } });
    // @ts-expect-error: it may be undefined.
    const ofValue = tasks.listBySize(undefined);
    // @ts-expect-error: it may be undefined.
    const ofOnlyBound = tasks.listBySize({ gte: undefined });
    // @ts-expect-error: the index has no such field.
    const ofTypo = tasks.listByTeamAndScore({ teem: "a" });
    for (const list of [ofField, ofSecond, ofBound, ofValue, ofOnlyBound, ofTypo]) {
      await expect(list).rejects.toMatchObject(invalid);
    }
    // @ts-expect-error: it may be undefined.
    expect(() => tasks.watchByTeamAndScore({ teamId })).toThrow(expect.objectContaining(invalid));
    expect((await tasks.listByTeamAndScore({})).items).toHaveLength(1);
  });

  it("of an array takes an element", async () => {
    const { tasks } = await keys.openRepositories(kv);
    const { id } = await tasks.create(task);
    expect((await tasks.listByLabel("x")).items).toMatchObject([{ id }]);
    expect((await tasks.listByTeamAndLabel({ teamId: "a", labels: "y" })).items).toHaveLength(1);
    expect(await tasks.findByTeamAndLabel("a", "y")).toMatchObject({ id });
    // @ts-expect-error: it is a text.
    await expect(tasks.listByLabel(["x"])).rejects.toMatchObject(invalid);
  });
});

it("rows that exist are left out if this is asked for", async () => {
  const { cities } = await plain.openRepositories(kv);
  await cities.create(oslo);
  const result = await cities.createMany([oslo, lund, lund], { skipDuplicates: true });
  expect(result).toEqual({
    count: 1,
    skipped: 2,
    results: [{ ok: true, row: expect.objectContaining(lund) }],
  });
  // @ts-expect-error: it is a boolean.
  const wrong = cities.createMany([], { skipDuplicates: "yes" });
  await expect(wrong).rejects.toMatchObject({ argument: "skipDuplicates" });
});

it("rows are found one by one, or several at once in the order of their keys", async () => {
  const { teamMembers } = await tenants.openRepositories(kv);
  const ada = await teamMembers.create({ tenantId: "t", id: 1, data: "d" });
  const bob = await teamMembers.create({ tenantId: "t", id: 2, data: "e" });
  const found = await teamMembers.findEachByTenantIdAndId([
    ["t", 2],
    ["u", 2],
    ["t", 1],
  ]);
  expect(found).toEqual([bob, null, ada]);
  expect(await teamMembers.findByTenantIdAndIdOrThrow("t", 2)).toEqual(bob);
  await expect(teamMembers.findByTenantIdAndIdOrThrow("u", 2)).rejects.toMatchObject({
    code: "KW_ROW_NOT_FOUND",
  });
  const { cities } = await plain.openRepositories(kv);
  const { id } = await cities.create(oslo);
  expect(await cities.findEachById([id, id])).toMatchObject([oslo, oslo]);
});

describe("an upsert", () => {
  it("creates the row that it names, whose key need not be said twice", async () => {
    const { teamMembers } = await tenants.openRepositories(kv);
    const made = await teamMembers.upsert("t", 1, { create: { data: "d" }, update: {} });
    expect(made).toEqual({ tenantId: "t", id: 1, data: "d", label: "t/1" });
    const { cities } = await plain.openRepositories(kv);
    const { cityId, ...create } = oslo;
    expect(await cities.upsertByCityId(cityId, { create, update: {} })).toMatchObject(oslo);
  });

  it("creates no other row", async () => {
    const { teamMembers } = await tenants.openRepositories(kv);
    const refused = { code: "KW_ARGUMENT_INVALID", argument: "create" };
    const create = { data: "d", id: 2, tenantId: "t", email: "bob@x.org" };
    const byKey = teamMembers.upsert("t", 1, { create, update: {} });
    await expect(byKey).rejects.toMatchObject(refused);
    const byEmail = teamMembers.upsertByEmail("ada@x.org", { create, update: {} });
    await expect(byEmail).rejects.toMatchObject(refused);
    expect((await teamMembers.scan()).items).toEqual([]);
    const normalized = await teamMembers.upsertByEmail("BOB@x.org", { create, update: {} });
    expect(normalized).toEqual({ ...create, label: "t/2" });
  });

  it("is not there by an index that holds some of the rows", async () => {
    const { tasks } = await keys.openRepositories(kv);
    expect(tasks).toHaveProperty("upsertByNumber");
    expect(tasks).not.toHaveProperty("upsertByOpenTitle");
    const { id } = await tasks.create(task);
    await tasks.create({ ...task, number: 2, teamId: "b", done: true, title: "Done" });
    expect(await tasks.findByOpenTitle("Write it")).toMatchObject({ id });
    expect(await tasks.findByOpenTitle("Done")).toBeNull();
    const stream = tasks.watchByOpenTitle("Write it").getReader();
    expect((await stream.read()).value).toMatchObject({ id });
    await stream.cancel();
  });
});

it("what has no method of its own is done through the database", async () => {
  const { cities, database } = await plain.openRepositories(kv);
  await cities.createMany([oslo, lund]);
  const where = { country: "SE" };
  const { count } = await database.cities.updateMany({ where, data: { population: 1 } });
  expect(count).toBe(1);
  expect((await cities.listByPopulation(1)).items).toHaveLength(1);
});

it("aggregates are read without rows, by index and of all rows", async () => {
  const { orders } = await totals.openRepositories(kv);
  expect(await orders.aggregate()).toEqual({
    count: 0,
    sum: { items: null },
    avg: { items: null },
    max: { items: null },
  });
  const base = { customer: "a", month: "2026-01" };
  const paidAt = new Date(5);
  await orders.createMany([
    { id: "1", ...base, items: 2, weight: 3n, price: "1.50" },
    { id: "2", ...base, items: 4, price: "2.25", paidAt },
    { id: "3", ...base, month: "2026-02", items: 6, price: "0.05" },
    { id: "4", ...base, customer: "b", items: 1, price: "9" },
  ]);
  expect(await orders.aggregate()).toEqual({
    count: 4,
    sum: { items: 13 },
    avg: { items: 3.25 },
    max: { items: 6 },
  });
  const ofCustomer = await orders.aggregateByCustomer({ customer: "a" });
  const weight: bigint | null = ofCustomer.sum.weight;
  expect([weight, ofCustomer.sum.price, ofCustomer.min.paidAt]).toEqual([3n, "3.80", paidAt]);
  const inFebruary = await orders.aggregateByCustomer({ customer: "a", month: "2026-02" });
  expect(inFebruary).toEqual({
    count: 1,
    sum: { weight: null, price: "0.05" },
    avg: { weight: null, price: 0.05 },
    min: { paidAt: null },
  });
  const { count, sum } = await orders.aggregateByMonth({ gte: "2026-01" });
  expect([count, sum]).toEqual([4, { items: 13 }]);
});
