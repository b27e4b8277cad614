import { openKv } from "@keywright/core";
import { createDatabase, defineJob } from "@keywright/orm";
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { openRepositories, repositoriesOf } from "./fixtures/plain/generated/index.js";
import { City } from "./fixtures/plain/models/city.js";

const location = { longitude: 10.75, latitude: 59.91 };
const oslo = { cityId: 1, name: "Oslo", country: "NO", population: 580_000, location };

const Grow = defineJob({ name: "grow", schema: z.object({ id: z.ulid(), by: z.int() }) });

it("generated repositories share the transactions of jobs", async () => {
  await using kv = await openKv(":memory:");
  const db = await createDatabase({ kv, models: { cities: City }, jobs: { grow: Grow } });
  const { cities } = repositoriesOf(db);
  const id = await db.transaction(async (tx) => {
    const created = await repositoriesOf(tx).cities.create(oslo);
    await tx.jobs.grow.enqueue({ id: created.id, by: 5 });
    return created.id;
  });
  const refused = db.transaction(async (tx) => {
    await tx.jobs.grow.enqueue({ id, by: 1 });
    await repositoriesOf(tx).cities.create(oslo);
  });
  await expect(refused).rejects.toMatchObject({ code: "KW_UNIQUE_CONSTRAINT" });
  expect(await db.jobs.grow.counts()).toMatchObject({ waiting: 1 });

  await using _worker = db.work({
    grow: async ({ payload }, { transaction }) => {
      await transaction(async (tx) => {
        const data = { population: { increment: payload.by } };
        await repositoriesOf(tx).cities.update(payload.id, data);
      });
    },
  });
  await expect.poll(() => db.jobs.stored()).toEqual([]);
  expect((await cities.findById(id))?.population).toBe(580_005);
});

it("openRepositories takes jobs, and returns them with work", async () => {
  await using kv = await openKv(":memory:");
  const { cities, jobs, transaction, work, consume, database } = await openRepositories(kv, {
    jobs: { grow: Grow },
  });
  expectTypeOf(jobs.grow.enqueue).parameter(0).toEqualTypeOf<{ id: string; by: number }>();
  const { id } = await transaction(async (tx) => {
    const created = await tx.cities.create(oslo);
    await tx.jobs.grow.enqueue({ id: created.id, by: 5 });
    return created;
  });
  expect(await jobs.grow.counts()).toMatchObject({ waiting: 1 });
  expect(await database.jobs.grow.counts()).toMatchObject({ waiting: 1 });

  await using _worker = work({
    grow: async ({ payload }, { transaction: complete, signal }) => {
      expect(signal.aborted).toBe(false);
      await complete(async (tx) => {
        await tx.cities.update(payload.id, { population: { increment: payload.by } });
        if (payload.by > 1) await tx.jobs.grow.enqueue({ id: payload.id, by: 1 });
      });
    },
  });
  await expect.poll(() => jobs.stored()).toEqual([]);
  expect((await cities.findById(id))?.population).toBe(580_006);
  expect(() => work({ shrink: () => undefined } as never)).toThrow("handlers.shrink");
  expect(() => work(undefined as never)).toThrow("handlers");
  expectTypeOf(consume).toBeFunction();
});

it("openRepositories without jobs has none", async () => {
  await using kv = await openKv(":memory:");
  const opened = await openRepositories(kv);
  expect(Object.keys(opened)).not.toContain("jobs");
  expectTypeOf(opened).not.toHaveProperty("jobs");
  await opened.transaction(async (tx) => {
    expectTypeOf(tx).not.toHaveProperty("jobs");
    expect(Object.keys(tx)).not.toContain("jobs");
  });
});
