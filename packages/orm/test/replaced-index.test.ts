// What becomes of an index that another has replaced when the models change again.
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  defineMigration,
  defineModel,
  type MigrationProgress,
  migrate,
  migrationStatus,
  replaceIndex,
} from "../src/index.js";
import { rejection } from "./user-model.js";

const base = {
  name: "players",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
} as const;
const byNameCopy = { key: "name", store: "copy" } as const;
const byName = { key: "name" } as const;
const Before = defineModel({ ...base, indexes: { byNameCopy } });
const Both = defineModel({ ...base, indexes: { byNameCopy, byName } });
const After = defineModel({ ...base, indexes: { byName } });

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** A row, whose copy index was replaced up to a step. */
async function replaceUpTo(last: "switch" | "clean-up"): Promise<void> {
  const old = await createDatabase({ kv, models: { players: Before } });
  await old.players.create({ data: { id: "1", name: "Ada" } });
  const both = await createDatabase({ kv, models: { players: Both } });
  for (const step of ["backfill", "switch", "clean-up"] as const) {
    const names = { model: "players", from: "byNameCopy", to: "byName" };
    expect((await replaceIndex(both, { ...names, step })).status).toBe("done");
    if (step === last) return;
  }
}

describe("an index that was replaced", () => {
  it("is left alone as long as the model has both", async () => {
    await replaceUpTo("clean-up");
    const db = await createDatabase({ kv, models: { players: Both } });
    expect(await migrate(db)).toMatchObject({ status: "done", plan: { isEmpty: true } });
  });

  it("gives its name to a new one", async () => {
    await replaceUpTo("clean-up");
    await migrate(await createDatabase({ kv, models: { players: After } }), { accept: true });
    const Again = defineModel({
      ...base,
      indexes: { byName, byNameCopy: { key: ["name", "id"], prefix: "players_again" } },
    });
    const db = await createDatabase({ kv, models: { players: Again } });
    const result = await migrate(db, { accept: true });
    expect(result).toMatchObject({
      status: "done",
      indexes: [{ index: "byNameCopy", state: "readable" }],
    });
    const { items } = await db.players.findMany({ where: { name: "Ada", id: { gte: "" } } });
    expect(items).toHaveLength(1);
  });

  it.each(["switch", "clean-up"] as const)(
    "serves the program of before again that takes its successor away, after %s",
    async (step) => {
      await replaceUpTo(step);
      const db = await createDatabase({ kv, models: { players: Before } });
      expect((await migrate(db, { accept: true })).status).toBe("done");
      await db.players.create({ data: { id: "2", name: "Ada" } });
      expect((await db.players.findMany({ where: { name: "Ada" } })).items).toHaveLength(2);
      expect(await migrate(db)).toMatchObject({ plan: { isEmpty: true } });
    },
  );

  it("is built anew where it becomes another one", async () => {
    await replaceUpTo("switch");
    const Changed = defineModel({ ...base, indexes: { byName, byNameCopy: { key: "name" } } });
    const model = defineModel({
      ...base,
      indexes: { ...Changed.indexes, byNameCopy: { key: ["name", "id"] } },
    });
    const db = await createDatabase({ kv, models: { players: model } });
    expect(await migrate(db, { accept: true })).toMatchObject({
      status: "done",
      indexes: [{ index: "byNameCopy", state: "readable" }],
    });
  });

  it("waits while all rows are changed, which other indexes wait for", async () => {
    const before = z.object({ id: z.string(), name: z.string(), score: z.string() });
    const after = z.object({ id: z.string(), name: z.string(), score: z.int() });
    const byScore = { key: "score" } as const;
    // Of pointers, which the change leaves as they are.
    const byFormerName = { key: "name", prefix: "players_by_former_name" } as const;
    const Old = defineModel({ ...base, schema: before, indexes: { byFormerName, byScore } });
    const New = defineModel({ ...base, schema: after, indexes: { byFormerName, byName, byScore } });
    const old = await createDatabase({ kv, models: { players: Old } });
    const data = Array.from({ length: 1200 }, (_, i) => ({
      id: `${i}`,
      name: `Name ${i}`,
      score: `${i}`,
    }));
    await old.players.createMany({ data });
    const up = (row: z.output<typeof before>) => ({ ...row, score: Number(row.score) });
    const migrations = [defineMigration({ model: New, from: before, to: after, up })];
    const db = await createDatabase({ kv, models: { players: New }, migrations });
    const stop = new AbortController();
    const onProgress = ({ phase, done }: MigrationProgress) => {
      if (phase === "transforming" && done > 0) stop.abort();
    };
    const run = await migrate(db, { accept: true, signal: stop.signal, onProgress });
    expect(run.status).toBe("stopped");
    const replace = { model: "players", from: "byFormerName", to: "byName" } as const;
    const error = await rejection(replaceIndex(db, { ...replace, step: "backfill" }));
    expect(error).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      reason: expect.stringContaining("run migrate first"),
    });
    const find = () => db.players.findMany({ where: { score: { gte: 1190 } } });
    expect((await rejection(find())).code).toBe("KW_INDEX_NOT_READY");
    expect((await migrate(db)).status).toBe("done");
    expect((await find()).items).toHaveLength(10);
  });
});

it("a counter is counted from the start whose index is renamed while it is built", async () => {
  const Plain = defineModel({ ...base, indexes: { byName } });
  const plain = await createDatabase({ kv, models: { players: Plain } });
  await plain.players.createMany({
    data: Array.from({ length: 1200 }, (_, i) => ({ id: `${i}`, name: `Name ${i % 3}` })),
  });
  const Counted = defineModel({ ...base, indexes: { byName: { ...byName, count: true } } });
  const counted = await createDatabase({ kv, models: { players: Counted } });
  const stop = new AbortController();
  const stopped = await migrate(counted, {
    signal: stop.signal,
    onProgress: ({ done }) => {
      if (done > 0) stop.abort();
    },
  });
  expect(stopped.status).toBe("stopped");
  const Renamed = defineModel({
    ...base,
    indexes: { byTitle: { key: "name", count: true, prefix: "players_by_name" } },
  });
  const db = await createDatabase({ kv, models: { players: Renamed } });
  expect((await migrate(db, { accept: true })).status).toBe("done");
  const [status] = (await migrationStatus(db)).models;
  expect(status?.counters).toMatchObject({ byTitle: { state: "readable" } });
  expect(await db.players.count({ where: { name: "Name 1" } })).toBe(400);
});

it("a change of rows is not taken over by a program that cannot finish it", async () => {
  const before = z.object({ id: z.string(), score: z.number() });
  const after = z.object({ id: z.string(), score: z.int() });
  const later = z.object({ id: z.string(), score: z.int().nullable() });
  const Old = defineModel({ name: "games", schema: before, primaryKey: "id" });
  const New = defineModel({ name: "games", schema: after, primaryKey: "id" });
  const Later = defineModel({ name: "games", schema: later, primaryKey: "id" });
  const old = await createDatabase({ kv, models: { games: Old } });
  for (const id of ["1", "2", "3"]) await old.games.create({ data: { id, score: Number(id) } });
  let fails = true;
  const migrations = [
    defineMigration({
      model: New,
      from: before,
      to: after,
      up: (row) => {
        if (fails && row.id === "3") throw new Error("not this one");
        return row;
      },
    }),
  ];
  const db = await createDatabase({ kv, models: { games: New }, migrations });
  expect((await migrate(db)).status).toBe("failed-rows");
  const without = await createDatabase({ kv, models: { games: Later } });
  expect(await migrate(without)).toMatchObject({
    status: "blocked",
    plan: { needsMigration: true },
  });
  await db.games.update({ where: { id: "1" }, data: { score: 10 } });
  fails = false;
  const withIt = await createDatabase({ kv, models: { games: Later }, migrations });
  expect((await migrate(withIt)).status).toBe("done");
  expect(await withIt.games.findUnique({ where: { id: "3" } })).toEqual({ id: "3", score: 3 });
});
