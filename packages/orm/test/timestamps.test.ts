import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel } from "../src/index.js";
import { rejection } from "./user-model.js";

const times = {
  createdAt: z.date().default(() => new Date()),
  updatedAt: z.date().default(() => new Date()),
};
const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
});
const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.string(),
    title: z.string(),
    teamId: z.string().nullable().default(null),
    ...times,
  }),
  primaryKey: "id",
  timestamps: true,
  indexes: {
    byUpdate: { key: "updatedAt" },
    byTitle: { key: "title" },
    byTeam: { key: "teamId" },
  },
  relations: { team: belongsTo("teams", "teamId", { onDelete: "setNull" }) },
});

describe("timestamps", () => {
  let kv: EmbeddedKv;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1000 });
    kv = await openKv();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await kv.close();
  });

  const open = () => createDatabase({ kv, models: { tasks: Task, teams: Team } });
  const timesOf = (row: { createdAt: Date; updatedAt: Date } | null) =>
    row && [row.createdAt.getTime(), row.updatedAt.getTime()];

  it("are the times of the creation and of the last update", async () => {
    const { tasks } = await open();
    const created = await tasks.create({ data: { id: "1", title: "a" } });
    expect(timesOf(created)).toEqual([1000, 1000]);
    vi.setSystemTime(2000);
    const where = { id: "1" };
    expect(timesOf(await tasks.update({ where, data: { title: "b" } }))).toEqual([1000, 2000]);
    vi.setSystemTime(3000);
    expect(timesOf(await tasks.update({ where, data: {} }))).toEqual([1000, 3000]);
    vi.setSystemTime(500);
    expect(timesOf(await tasks.update({ where, data: {} }))).toEqual([1000, 1000]);
    vi.setSystemTime(3000);
    expect(timesOf(await tasks.update({ where, data: {} }))).toEqual([1000, 3000]);
    const { items } = await tasks.findMany({ where: { updatedAt: new Date(3000) } });
    expect(items.map(timesOf)).toEqual([[1000, 3000]]);
  });

  it("are maintained by every way of writing", async () => {
    const db = await open();
    const { tasks } = db;
    await tasks.createMany({ data: [{ id: "1", title: "a" }] });
    await tasks.createMany({ data: [{ id: "2", title: "a" }], atomic: true });
    vi.setSystemTime(2000);
    const upsert = (id: string) =>
      tasks.upsert({ where: { id }, create: { id, title: "a" }, update: { title: "b" } });
    expect(timesOf(await upsert("3"))).toEqual([2000, 2000]);
    expect(timesOf(await upsert("1"))).toEqual([1000, 2000]);
    vi.setSystemTime(3000);
    await tasks.updateMany({ where: { title: "a" }, data: { title: "c" } });
    await tasks.updateMany({ where: { title: "b" }, data: { title: "d" }, atomic: true });
    vi.setSystemTime(4000);
    await db.transaction(async (tx) => {
      await tx.tasks.create({ data: { id: "4", title: "a" } });
      await tx.tasks.update({ where: { id: "2" }, data: { title: "e" } });
    });
    const { items } = await tasks.scan();
    expect(items.map(timesOf)).toEqual([
      [1000, 3000],
      [1000, 4000],
      [2000, 3000],
      [4000, 4000],
    ]);
  });

  it("change if the deletion of another row clears a reference", async () => {
    const { tasks, teams } = await open();
    await teams.create({ data: { id: "t" } });
    await tasks.create({ data: { id: "1", title: "a", teamId: "t" } });
    vi.setSystemTime(2000);
    await teams.delete({ where: { id: "t" } });
    const row = await tasks.findUnique({ where: { id: "1" } });
    expect([row?.teamId, timesOf(row)]).toEqual([null, [1000, 2000]]);
  });

  it("can be given, for rows from elsewhere", async () => {
    const { tasks } = await open();
    const data = { id: "1", title: "a", createdAt: new Date(1), updatedAt: new Date(2) };
    expect(timesOf(await tasks.create({ data }))).toEqual([1, 2]);
    const update = { where: { id: "1" }, data: { updatedAt: new Date(5) } };
    expect(timesOf(await tasks.update(update))).toEqual([1, 5]);
    const undefinedTimes = { id: "2", title: "a", createdAt: undefined, updatedAt: undefined };
    expect(timesOf(await tasks.create({ data: undefinedTimes }))).toEqual([1000, 1000]);
  });

  it("are not maintained without the option", async () => {
    const model = defineModel({ name: "plain", schema: Task.schema, primaryKey: "id" });
    const { plain } = await createDatabase({ kv, models: { plain: model } });
    await plain.create({ data: { id: "1", title: "a" } });
    vi.setSystemTime(2000);
    const row = await plain.update({ where: { id: "1" }, data: { title: "b" } });
    expect(timesOf(row)).toEqual([1000, 1000]);
  });

  it("are numbers or texts if the schema says so", async () => {
    const model = defineModel({
      name: "notes",
      schema: z.object({
        id: z.string(),
        createdAt: z.iso.datetime().default(""),
        updatedAt: z.int().default(0),
      }),
      primaryKey: "id",
      timestamps: true,
    });
    const { notes } = await createDatabase({ kv, models: { notes: model } });
    expect(await notes.create({ data: { id: "1" } })).toEqual({
      id: "1",
      createdAt: "1970-01-01T00:00:01.000Z",
      updatedAt: 1000,
    });
    vi.setSystemTime(2000);
    const { updatedAt } = await notes.update({ where: { id: "1" }, data: {} });
    expect(updatedAt).toBe(2000);
  });

  it("need no migration, neither at another time nor when the option is added", async () => {
    const without = { ...Task, timestamps: false };
    const earlier = await createDatabase({ kv, models: { tasks: without, teams: Team } });
    await earlier.tasks.create({ data: { id: "1", title: "a" } });
    vi.setSystemTime(2000);
    const { tasks } = await open();
    const row = await tasks.update({ where: { id: "1" }, data: { title: "b" } });
    expect(timesOf(row)).toEqual([1000, 2000]);
  });

  it("do not change what an update refuses", async () => {
    const { tasks } = await open();
    await tasks.create({ data: { id: "1", title: "a" } });
    const refused = tasks.update({ where: { id: "1" }, data: ["b"] as never });
    expect(await rejection(refused)).toMatchObject({ code: "KW_ROW_INVALID" });
  });

  it.each([
    ["no field", {}, 'no field "createdAt"'],
    ["no default", { ...times, updatedAt: z.date() }, '"updatedAt" needs a default'],
    ["no time", { ...times, updatedAt: z.boolean().default(true) }, '"updatedAt" cannot hold'],
  ])("need fields for times: %s", (_, fields, message) => {
    const schema = z.object({ id: z.string(), ...fields });
    const define = () =>
      defineModel({ name: "bad", schema, primaryKey: "id" as never, timestamps: true });
    expect(define).toThrow(message);
    expect(define).toThrow("z.date().default(() => new Date())");
  });
});
