import { setImmediate } from "node:timers/promises";
import { type EmbeddedKv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, decimal, defineModel, desc, migrate } from "../src/index.js";
import { formatPlan, planMigration, verifyIndexes } from "../src/migrate.js";

const schema = z.object({
  id: z.string(),
  team: z.string(),
  email: z.string().optional(),
  score: z.int(),
  price: z.number(),
  tags: z.array(z.string()),
  closedAt: z.date().nullable(),
});
type Task = z.output<typeof schema>;

const oldModel = defineModel({
  name: "tasks",
  schema,
  primaryKey: "id",
  indexes: { byTeam: { key: "team" } },
});
type OldModel = typeof oldModel;

/** Each kind of index and counter that is data. The types of the whole are of no interest here. */
const additions: Readonly<Record<string, object>> = {
  "a plain index": { indexes: { byScore: { key: "score" } } },
  "an index of several fields, one descending": {
    indexes: { byTeamAndScore: { key: ["team", desc("score")] } },
  },
  "an index of elements": { indexes: { byTag: { key: "tags", each: true } } },
  "an index of named normalizers": {
    indexes: { byTag: { key: ["tags", "team"], each: true, normalize: { tags: "lowercase" } } },
  },
  "a unique index": {
    indexes: { byEmail: { key: "email", unique: true, normalize: ["trim", "lowercase"] } },
  },
  "an index with a condition": { indexes: { byOpen: { key: "score", where: { closedAt: null } } } },
  "an index of copies": { indexes: { byScore: { key: "score", store: "copy" } } },
  "an index that includes fields": { indexes: { byScore: { key: "score", include: ["price"] } } },
  "a counted index": { indexes: { byTag: { key: "tags", each: true, count: true } } },
  "sums of an index": {
    indexes: { byScore: { key: "score", sum: [decimal("price", 2)] } },
  },
  "minima of an index": { indexes: { byTag: { key: "tags", each: true, min: ["score"] } } },
  "counts and sums of an index that there was": {
    indexes: { byTeam: { key: "team", count: true, sum: ["score"], max: ["price"] } },
  },
  "counters of all rows": { count: true, sum: ["score", decimal("price", 2)], min: ["score"] },
  "an optional field": { schema: schema.extend({ note: z.string().optional() }) },
  "an optional field with an index": {
    schema: schema.extend({ note: z.string().optional() }),
    indexes: { byNote: { key: "note", count: true } },
  },
};

function laterModel(...names: readonly string[]): OldModel {
  const parts = names.map((name) => additions[name] as { indexes?: object; schema?: object });
  const indexes = Object.assign({}, oldModel.indexes, ...parts.map((part) => part.indexes));
  return defineModel({ ...Object.assign({}, oldModel, ...parts), indexes }) as OldModel;
}

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (model: OldModel) => createDatabase({ kv, models: { tasks: model } });
type Db = Awaited<ReturnType<typeof open>>;

const teams = ["red", "Blue"];

function task(i: number, seed = i): Task {
  return {
    id: `t${i}`,
    team: teams[seed % 2]!,
    ...(seed % 3 === 0 ? {} : { email: ` User${i}@example.com` }),
    score: seed % 5,
    price: (seed % 7) / 4,
    tags: ["a", "A", "b"].slice(seed % 3),
    closedAt: seed % 2 === 0 ? null : new Date(0),
  };
}

/** Creates, changes and deletes rows. */
async function write(db: Db, from: number, expireIn?: number): Promise<void> {
  await db.tasks.create({ data: task(from) });
  await db.tasks.createMany({ data: [task(from + 1), task(from + 2)] });
  const { id: _, ...changed } = task(from, from + 1);
  await db.tasks.update({ where: { id: `t${from}` }, data: changed });
  await db.tasks.delete({ where: { id: `t${from + 1}` } });
  await db.tasks.upsert({
    where: { id: `t${from + 2}` },
    create: task(from + 2),
    update: { score: { increment: 1 }, tags: ["c"] },
  });
  await db.tasks.create({ data: task(from + 5), ...(expireIn && { expireIn }) });
  await db.tasks.update({ where: { id: `t${from + 5}` }, data: { score: 3, price: 0.5 } });
  await db.transaction(async (tx) => {
    await tx.tasks.create({ data: task(from + 1) });
    await tx.tasks.update({ where: { id: `t${from}` }, data: { price: 9.25 } });
  });
}

async function expectComplete(model: OldModel): Promise<void> {
  const db = await open(model);
  expect((await planMigration(db)).isEmpty).toBe(true);
  const result = await verifyIndexes(db);
  expect(result, JSON.stringify(result.models)).toMatchObject({ status: "clean" });
}

describe("a program that is older than the database", () => {
  it.each(Object.keys(additions))("continues writing after the addition of %s", async (name) => {
    const later = laterModel(name);
    const old = await open(oldModel);
    // Where rows expire, a write maintains all entries of a row, and not only those that change.
    const expireIn = Object.keys(additions).indexOf(name) % 2 === 0 ? 3_600_000 : undefined;
    for (let i = 0; i < 30; i += 10) await write(old, i, expireIn);
    const db = await open(later);
    const plan = await planMigration(db);
    expect(plan.steps.filter((step) => !step.sideBySide)).toEqual([]);
    expect(formatPlan(plan)).toContain("without a restart");
    let isRunning = true;
    const writing = (async () => {
      for (let i = 100; isRunning && i < 1000; i += 10) {
        await write(old, i, expireIn);
        await setImmediate();
      }
    })();
    const result = await migrate(db).finally(() => {
      isRunning = false;
    });
    await writing;
    expect(result.status).toBe("done");
    await write(old, 2000);
    await write(db, 3000);
    await write(old, 4000, expireIn);
    await expectComplete(later);
  });

  it("keeps the values of a field that it does not know, and their index entries", async () => {
    const later = laterModel("an optional field with an index");
    const old = await open(oldModel);
    await migrate(await open(later));
    const db = await open(later);
    await db.tasks.create({ data: { ...task(1), note: "n" } as Task });
    await old.tasks.update({ where: { id: "t1" }, data: { score: 4 } });
    await old.tasks.upsert({ where: { id: "t1" }, create: task(1), update: { team: "Blue" } });
    expect(await db.tasks.findUnique({ where: { id: "t1" } })).toMatchObject({
      note: "n",
      score: 4,
    });
    const where = { note: "n" } as never;
    expect((await db.tasks.findMany({ where })).items).toHaveLength(1);
    await old.tasks.delete({ where: { id: "t1" } });
    await expectComplete(later);
  });

  it("is told the name of a unique index that it does not know", async () => {
    const old = await open(oldModel);
    await old.tasks.create({ data: { ...task(1), email: "ada@example.com" } });
    await migrate(await open(laterModel("a unique index")));
    const taken = { ...task(2), email: "ADA@example.com " };
    await expect(old.tasks.create({ data: taken })).rejects.toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      index: "byEmail",
    });
    const { count } = await old.tasks.createMany({ data: [taken, task(4)], skipDuplicates: true });
    expect(count).toBe(1);
    await expectComplete(laterModel("a unique index"));
  });

  it("resolves the duplicates of a unique index that it does not know", async () => {
    const old = await open(oldModel);
    await old.tasks.create({ data: { ...task(1), email: "ada@example.com" } });
    await old.tasks.create({ data: { ...task(2), email: "Ada@example.com" } });
    const db = await open(laterModel("a unique index"));
    expect((await migrate(db)).status).toBe("duplicates");
    const third = { ...task(3), email: "ada@example.com" };
    await expect(old.tasks.create({ data: third })).rejects.toMatchObject({ index: "byEmail" });
    await old.tasks.delete({ where: { id: "t1" } });
    expect((await migrate(db)).status).toBe("done");
    await expectComplete(laterModel("a unique index"));
  });

  const beyond = {
    "an index with a function": { indexes: { by: { key: (row: Task) => row.score } } },
    "a normalizer that is a function": {
      indexes: { by: { key: "team", normalize: (team: string) => team } },
    },
    "a ranked index": { indexes: { by: { key: "score", ranked: true } } },
    "a sum of a field that it does not know": {
      schema: schema.extend({ size: z.int().optional() }),
      sum: ["size"],
    },
    "an index of a field that has another type": {
      schema: schema.extend({ score: z.int().nullable() }),
      indexes: { by: { key: "score" } },
    },
  };
  it.each(Object.entries(beyond))("may not write beside %s", async (_, part) => {
    const old = await open(oldModel);
    await write(old, 0);
    const { indexes = {} } = part as { indexes?: object };
    const later = defineModel({
      ...(Object.assign({}, oldModel, part) as object),
      indexes: { ...oldModel.indexes, ...indexes },
    } as never) as unknown as OldModel;
    const db = await open(later);
    const plan = await planMigration(db);
    expect(plan.steps.some((step) => !step.sideBySide)).toBe(true);
    expect(formatPlan(plan).replaceAll(/\s+/g, " ")).toContain("models cannot write afterwards.");
    expect((await migrate(db)).status).toBe("done");
    await expect(write(old, 10)).rejects.toMatchObject({ code: "KW_STALE_SCHEMA" });
    await expectComplete(later);
  });

  it("may not write while a newer program changes the rows or an index", async () => {
    const old = await open(oldModel);
    await write(old, 0);
    const catalog = ["__keywright", "catalog", "tasks"];
    await migrate(await open(laterModel("a plain index")));
    const { value } = await kv.get<{ indexes: Record<string, object> }>(catalog);
    const { byScore } = value!.indexes;
    const next = { ...byScore, state: "write-only", place: "tasks_by_score 2" };
    const indexes = { ...value!.indexes, byScore: { ...byScore, next } };
    await kv.set(catalog, { ...value, format: 3, indexes });
    await expect(write(old, 10)).rejects.toMatchObject({
      code: "KW_STALE_SCHEMA",
    });
  });
});

it("programs of any versions leave complete indexes, whatever they write and when", async () => {
  const names = Object.keys(additions);
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ by: fc.nat(2), at: fc.nat(5), seed: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.constant("migrate" as const) },
  );
  const choices = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(choices, fc.array(step, { maxLength: 20 }), async (chosen, steps) => {
      await kv.close();
      kv = await openKv();
      const later = laterModel(...chosen);
      const hasNote = "note" in later.schema.shape;
      const old = await open(oldModel);
      for (let i = 0; i < 4; i++) await old.tasks.create({ data: task(i) });
      const db = await open(later);
      const programs = [old, db, await open(oldModel)];
      const pending: Promise<unknown>[] = [];
      for (const one of steps) {
        if (one === "migrate") {
          pending.push(migrate(db));
          continue;
        }
        const { tasks } = programs[one.by]!;
        const { id, email: _, ...data } = task(one.at, one.seed);
        const email = `u${one.seed % 9}`;
        const note = hasNote && one.by === 1 ? { note: `n${one.seed % 3}` } : {};
        const create = { id, email, ...data, ...note };
        const writing =
          one.seed % 4 === 0
            ? tasks.deleteMany({ filter: (row) => row.id === id })
            : tasks.upsert({ where: { id }, create, update: { ...data, email, ...note } });
        const done = writing.catch((error: { code?: string }) => {
          if (error.code !== "KW_UNIQUE_CONSTRAINT") throw error;
        });
        pending.push(done);
        if (one.seed % 3 === 0) await done;
      }
      await Promise.all(pending);
      const { status } = await migrate(db);
      if (status === "duplicates") return;
      expect(status).toBe("done");
      await expectComplete(later);
    }),
    { numRuns: 25 },
  );
});
