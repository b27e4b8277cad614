import { copyKv, type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineMigration,
  defineModel,
  type MigrationProgress,
  migrate,
  migrationStatus,
} from "../../src/index.js";
import { planMigration, previewMigration, verifyIndexes } from "../../src/migrate.js";
import { leaseKey } from "../../src/state/run/lease.js";
import { Crash, crashAtEachCommit, crashingKv } from "../faulty-kv.js";
import { beginTransform, contextOf, runTransform } from "../transform-models.js";
import { expectIndexesToMatch } from "../verify-indexes.js";

const v1 = z.object({ id: z.string(), n: z.string() });
const v2 = z.object({ id: z.string(), n: z.number() });
const v3 = z.object({ id: z.string(), n: z.object({ value: z.number() }), label: z.string() });
/** A batch has 250 rows. */
const count = 700;

function model<S extends z.ZodObject>(schema: S, index: object) {
  return defineModel({
    name: "goods",
    schema,
    primaryKey: "id" as never,
    indexes: { byN: index as never },
    count: true,
  });
}
const First = model(v1, { key: "n" });
const Second = model(v2, { key: "n", unique: true });
const Third = model(v3, { key: "label" });

const toNumber = defineMigration({
  model: Second,
  name: "n is a number",
  from: v1,
  to: v2,
  up: (row: { n: string }) => {
    if (row.n === "x") throw new Error("x is not a number");
    return { ...row, n: Number(row.n) };
  },
  down: (row: { n: number }) => ({ ...row, n: String(row.n) }),
} as never);
const toObject = defineMigration({
  model: Third,
  name: "n is an object",
  from: v2,
  to: v3,
  up: (row: { n: number }) => ({ ...row, n: { value: row.n }, label: `n${row.n}` }),
} as never);

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const id = (i: number) => `g${String(i).padStart(3, "0")}`;

async function openWith<M extends ReturnType<typeof model>>(
  goods: M,
  migrations: ReturnType<typeof defineMigration>[],
  on: Kv = kv,
) {
  return await createDatabase({ kv: on, models: { goods } as never, migrations });
}

/** Begins the change to the second schema, and stops after its first batch. */
async function interrupt(): Promise<void> {
  const first = await openWith(First, []);
  const data = Array.from({ length: count }, (_, i) => ({ id: id(i), n: String(i) }));
  await (first as never as Creates).goods.createMany({ data });
  const second = await openWith(Second, [toNumber]);
  const stop = new AbortController();
  const { status } = await migrate(second, {
    signal: stop.signal,
    accept: true,
    onProgress: ({ phase, done }: MigrationProgress) => {
      if (phase === "transforming" && done >= 500) stop.abort();
    },
  } as never);
  expect(status).toBe("stopped");
  const forms = await storedForms();
  expect(forms).toContain("string");
  expect(forms).toContain("number");
}

const few = 12;

/** Begins the change of a few rows to the second schema, and leaves some of them as they were. */
async function interruptIn(place: Kv): Promise<void> {
  const first = await openWith(First, [], place);
  const data = Array.from({ length: few }, (_, i) => ({ id: id(i), n: String(i) }));
  await (first as never as Creates).goods.createMany({ data });
  const second = await openWith(model(v2, { key: "n" }), [toNumber], place);
  const context = contextOf(second, "goods");
  await beginTransform(context);
  const stop = new AbortController();
  const onProgress = ({ phase, done }: MigrationProgress) => {
    if (phase === "transforming" && done >= 10) stop.abort();
  };
  expect(await runTransform(context, { signal: stop.signal, onProgress })).toBe("stopped");
}

async function migrateTo(place: Kv): Promise<string> {
  const third = await openWith(Third, [toNumber, toObject], place);
  return (await migrate(third, { accept: true })).status;
}

interface Creates {
  readonly goods: { createMany(options: object): Promise<unknown> };
}

async function kvRow(db: object, data: object): Promise<void> {
  const { goods } = db as { goods: { create: (options: object) => Promise<unknown> } };
  await goods.create({ data });
}

async function storedForms(): Promise<Set<string>> {
  const forms = new Set<string>();
  for await (const { value } of kv.list<{ n: unknown }>({ prefix: ["goods"] })) {
    forms.add(typeof value.n);
  }
  return forms;
}

const readAll = async (db: object): Promise<unknown[]> => {
  const { goods } = db as { goods: { scan: () => AsyncIterable<unknown> } };
  const rows: unknown[] = [];
  for await (const row of goods.scan()) rows.push(row);
  return rows;
};
const thirdRows = Array.from({ length: count }, (_, i) => ({
  id: id(i),
  n: { value: i },
  label: `n${i}`,
}));

describe("an interrupted change of all rows", () => {
  it("is completed to another schema by a program that has all migrations", async () => {
    await interrupt();
    const third = await openWith(Third, [toNumber, toObject]);
    expect(await readAll(third)).toEqual(thirdRows);
    const [previewed] = await previewMigration(third, { model: "goods" });
    expect(previewed).toMatchObject({ after: thirdRows[0] });
    expect((await previewMigration(third, { model: "goods", rows: 1000 })).length).toBe(count);
    const plan = await planMigration(third);
    expect(plan.needsMigration).toBe(false);
    expect(await migrate(third, { accept: true })).toMatchObject({ status: "done" });
    expect(await storedForms()).toEqual(new Set(["object"]));
    expect(await readAll(third)).toEqual(thirdRows);
    await expectIndexesToMatch(kv, Third);
    expect((await planMigration(third)).isEmpty).toBe(true);
    const marks = kv.list({ prefix: ["__keywright", "transform"] });
    expect((await marks.next()).done).toBe(true);
  });

  it("is completed to the schema that it began with", async () => {
    await interrupt();
    const second = await openWith(Second, [toNumber]);
    expect(await migrate(second, { accept: true })).toMatchObject({ status: "done" });
    expect(await storedForms()).toEqual(new Set(["number"]));
    expect((await planMigration(second)).isEmpty).toBe(true);
    const { status, models } = await verifyIndexes(second);
    expect({ status, entries: models[0]?.entries }).toEqual({ status: "clean", entries: count });
  });

  it("is completed in a copy of the database", async () => {
    await interrupt();
    await using copy = await openKv();
    await copyKv(kv, copy, { verify: true });
    const third = await openWith(Third, [toNumber, toObject], copy);
    expect(await readAll(third)).toEqual(thirdRows);
    expect(await migrateTo(copy)).toBe("done");
    expect(await readAll(third)).toEqual(thirdRows);
    await expectIndexesToMatch(copy, Third);
  });

  it("resumes after it was interrupted a second time, and after rows were written in between", async () => {
    await interrupt();
    const third = await openWith(Third, [toNumber, toObject]);
    const stop = new AbortController();
    const stopped = await migrate(third, {
      signal: stop.signal,
      accept: true,
      onProgress: ({ phase, done }: MigrationProgress) => {
        if (phase === "transforming" && done >= 250) stop.abort();
      },
    } as never);
    expect(stopped.status).toBe("stopped");
    expect(await storedForms()).toEqual(new Set(["object", "number", "string"]));
    expect(await readAll(third)).toEqual(thirdRows);
    const [{ transform } = { transform: null }] = (await migrationStatus(third)).models;
    expect(transform?.earlier).toHaveLength(1);
    await kvRow(third, { id: "new", n: { value: 1000 }, label: "new" });
    expect((await migrate(third, { accept: true })).status).toBe("done");
    expect(await readAll(third)).toEqual([
      ...thirdRows,
      { id: "new", n: { value: 1000 }, label: "new" },
    ]);
    await expectIndexesToMatch(kv, Third);
  });

  it("is completed after a crash at any commit", async () => {
    const last = await crashAtEachCommit(async (at) => {
      const place = await openKv();
      try {
        await interruptIn(place);
        const dying = crashingKv(place, at, at % 2 === 0 ? "before" : "after");
        const crashed = await migrateTo(dying).catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error;
          return "crashed";
        });
        const third = await openWith(Third, [toNumber, toObject], place);
        expect(await readAll(third)).toEqual(thirdRows.slice(0, few));
        // The lease of the dead run is not released.
        await place.delete(leaseKey);
        expect(await migrateTo(place)).toBe("done");
        expect(await readAll(third)).toEqual(thirdRows.slice(0, few));
        await expectIndexesToMatch(place, Third);
        return crashed === "crashed";
      } finally {
        await place.close();
      }
    });
    expect(last).toBeGreaterThan(10);
  });

  it("goes back by the migration's down", async () => {
    await interrupt();
    const first = await openWith(First, [toNumber]);
    expect((await planMigration(first)).needsMigration).toBe(false);
    expect((await migrate(first, { accept: true })).status).toBe("done");
    const rows = Array.from({ length: count }, (_, i) => ({ id: id(i), n: String(i) }));
    expect(await readAll(first)).toEqual(rows);
    await expectIndexesToMatch(kv, First);
  });

  it("keeps rows that failed, and names them until they are corrected", async () => {
    const first = await openWith(First, []);
    await kvRow(first, { id: "a", n: "1" });
    await kvRow(first, { id: "b", n: "x" });
    const second = await openWith(Second, [toNumber]);
    expect((await migrate(second, { accept: true })).status).toBe("failed-rows");
    const third = await openWith(Third, [toNumber, toObject]);
    const { status, failed } = await migrate(third, { accept: true });
    expect(status).toBe("failed-rows");
    expect(failed).toMatchObject([{ id: "b" }]);
    await expect(readAll(third)).rejects.toMatchObject({ code: "KW_ROW_UPGRADE" });
    await (third as never as { goods: { delete: (o: object) => Promise<unknown> } }).goods.delete({
      where: { id: "b" },
    });
    expect((await migrate(third)).status).toBe("done");
    expect(await readAll(third)).toEqual([{ id: "a", n: { value: 1 }, label: "n1" }]);
  });

  it("blocks a program without the migrations, which says what is missing", async () => {
    await interrupt();
    const third = await openWith(Third, [toObject]);
    const { status, plan } = await migrate(third, { accept: true });
    expect(status).toBe("blocked");
    expect(plan.steps[0]).toMatchObject({
      kind: "transform-rows",
      reason: expect.stringContaining("no migration leads from the rows that it has not reached"),
      blocked: expect.stringContaining("with the migrations that the change began with"),
    });
  });
});
