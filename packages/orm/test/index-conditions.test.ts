import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { compileModel } from "../src/codegen.js";
import { createDatabase, defineMigration, defineModel, migrate } from "../src/index.js";
import { planMigration } from "../src/migrate.js";
import { indexManifest } from "../src/state/schema/manifests/index-manifest.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const schema = z.object({
  id: z.string(),
  team: z.string(),
  closedAt: z.date().nullable().optional(),
  state: z.enum(["open", "closed"]).default("open"),
});
const base = { name: "tasks", primaryKey: "id" } as const;
const indexOf = (index: object, fields: z.ZodObject = schema) => {
  const model = { ...base, schema: fields, indexes: { by: index } };
  return compileModel(defineModel(model as never)).indexes[0]!;
};

describe("an index with values in where", () => {
  const Task = defineModel({
    ...base,
    schema,
    indexes: {
      byOpen: { key: "team", where: { closedAt: null } },
      byOpenTeam: { key: "team", unique: true, where: { closedAt: null, state: "open" } },
    },
  });

  it("contains the rows that have the values, and follows their changes", async () => {
    const db = await createDatabase({ kv, models: { tasks: Task } });
    const open = async () => {
      const { items } = await db.tasks.findMany({ index: "byOpen", where: { team: "a" } });
      return items.map(({ id }) => id);
    };
    await db.tasks.create({ data: { id: "null", team: "a", closedAt: null, state: "closed" } });
    await db.tasks.create({ data: { id: "lacks", team: "a" } });
    await db.tasks.create({ data: { id: "closed", team: "a", closedAt: new Date(0) } });
    expect(await open()).toEqual(["lacks", "null"]);
    await db.tasks.update({ where: { id: "lacks" }, data: { closedAt: new Date(1) } });
    await db.tasks.update({ where: { id: "closed" }, data: { closedAt: { unset: true } } });
    expect(await open()).toEqual(["closed", "null"]);
    const second = db.tasks.update({ where: { id: "lacks" }, data: { closedAt: null } });
    expect(await rejection(second)).toMatchObject({ index: "byOpenTeam" });
    await expectIndexesToMatch(kv, Task);
  });

  it("is described as data, without its source or a version", () => {
    const manifest = indexManifest(
      indexOf({ key: "team", where: { state: "open", closedAt: null } }),
    );
    expect(manifest).not.toHaveProperty("functions");
    expect(JSON.stringify(manifest.traits)).toBe('{"where":{"closedAt":null,"state":"open"}}');
    const other = indexManifest(indexOf({ key: "team", where: { closedAt: null } }));
    expect(other.traits).not.toEqual(manifest.traits);
  });

  it("is rebuilt if its values change", async () => {
    await createDatabase({ kv, models: { tasks: Task } });
    const indexes = { ...Task.indexes, byOpen: { key: "team", where: { state: "open" } } } as const;
    const db = await createDatabase({
      kv,
      models: { tasks: defineModel({ ...base, schema, indexes }) },
    });
    const [step] = (await planMigration(db)).steps;
    expect(step).toMatchObject({ kind: "rebuild-index", index: "byOpen" });
    expect(step?.reason).toContain('its where was {"closedAt":null} and is {"state":"open"}');
  });

  it.each([
    ["an unknown field", { nope: 1 }, 'the schema has no field "nope"'],
    ["undefined", { closedAt: undefined }, 'the value for "closedAt" is undefined; use null'],
    ["a date", { closedAt: new Date(0) }, "must be null, a string, a finite number or a boolean"],
    ["no number", { closedAt: Number.NaN }, "must be null, a string, a finite number or a boolean"],
    ["no field", {}, "it must name at least one field"],
    ["a list", [], "it must be an object of values by field, or a function"],
    ["null", null, "it must be an object of values by field, or a function"],
    ["null for a required field", { state: null }, 'no row has this value for "state"'],
    ["a value that no row has", { state: "new" }, 'no row has this value for "state"'],
  ])("is refused with %s", (_, where, reason) => {
    const define = () => indexOf({ key: "team", where });
    expect(define).toThrow(
      expect.objectContaining({ code: "KW_MODEL_INVALID", at: "indexes.by.where" }),
    );
    expect(define).toThrow(reason);
  });

  it("is refused if it would contain no row", () => {
    expect(() => indexOf({ key: ["team", "closedAt"], where: { closedAt: null } })).toThrow(
      'it selects rows that lack "closedAt", which is in the key',
    );
  });
});

describe("an index whose functions state what they read", () => {
  const define = (reads: readonly ("team" | "closedAt")[]) =>
    defineModel({
      ...base,
      schema,
      indexes: {
        byOpen: { key: "team", where: (task) => task.closedAt == null, reads },
        byUpper: { key: (task) => task.team.toUpperCase(), reads },
      },
    });

  it("has the entries of these fields", async () => {
    const Task = define(["team", "closedAt"]);
    const db = await createDatabase({ kv, models: { tasks: Task } });
    await db.tasks.create({ data: { id: "1", team: "a" } });
    await db.tasks.create({ data: { id: "2", team: "a", closedAt: new Date(0) } });
    await db.tasks.update({ where: { id: "2" }, data: { closedAt: null, team: "b" } });
    await expectIndexesToMatch(kv, Task);
    const { items } = await db.tasks.findMany({ where: { byUpper: "B" } });
    expect(items.map(({ id }) => id)).toEqual(["2"]);
  });

  it("refuses a row if one of them reads another field", async () => {
    const db = await createDatabase({ kv, models: { tasks: define(["closedAt"]) } });
    const error = await rejection(db.tasks.create({ data: { id: "1", team: "a" } }));
    expect(error).toMatchObject({ code: "KW_MODEL_INVALID", at: "indexes.byUpper.reads" });
    expect(error.message).toContain(
      'a function of the index reads "team"; add this field to reads',
    );
  });

  it("cannot be built if one of them reads another field", async () => {
    const Before = defineModel({ ...base, schema });
    const before = await createDatabase({ kv, models: { tasks: Before } });
    await before.tasks.create({ data: { id: "1", team: "a" } });
    const db = await createDatabase({ kv, models: { tasks: define(["closedAt"]) } });
    expect(await rejection(migrate(db))).toMatchObject({ code: "KW_MODEL_INVALID" });
  });

  it("is refused if it has no function, or the schema lacks a field", () => {
    const at = { code: "KW_MODEL_INVALID", at: "indexes.by.reads" };
    const withoutFunction = () =>
      indexOf({ key: "team", where: { state: "open" }, reads: ["team"] });
    expect(withoutFunction).toThrow(expect.objectContaining(at));
    expect(() => indexOf({ key: () => 1, reads: ["nope"] })).toThrow(expect.objectContaining(at));
  });
});

describe("a change of other fields of the rows", () => {
  const Before = defineModel({
    ...base,
    schema,
    indexes: {
      byOpen: { key: "team", where: { closedAt: null } },
      byUpper: { key: (task) => task.team.toUpperCase(), reads: ["team"] },
      byShort: { key: "team", where: (task) => task.team.length < 5 && task.closedAt == null },
      byWhole: { key: "team", where: (task) => hasTeam(task), prefix: "whole" },
      byLower: { key: (task) => task.team.toLowerCase(), version: 1 },
    },
  });
  const After = defineModel({
    ...base,
    schema: schema.extend({ estimate: z.int().default(0) }),
    indexes: Before.indexes,
  });

  it("leaves an index readable, from the opening of the new program to the end of the run", async () => {
    const old = await createDatabase({ kv, models: { tasks: Before } });
    for (const id of ["1", "2", "3"]) await old.tasks.create({ data: { id, team: "a" } });
    const db = await createDatabase({ kv, models: { tasks: After } });
    const read = async () => {
      const byOpen = await db.tasks.findMany({ index: "byOpen", where: { team: "a" } });
      const byUpper = await db.tasks.findMany({ where: { byUpper: "A" } });
      expect(byOpen.items).toEqual(byUpper.items);
      for (const index of ["byShort", "byWhole"] as const) {
        const { items } = await db.tasks.findMany({ index, where: { team: "a" } });
        expect(items).toEqual(byUpper.items);
      }
      return byOpen.items.map(({ estimate }) => estimate);
    };
    expect(await read()).toEqual([0, 0, 0]);
    const code = "KW_INDEX_NOT_READY";
    expect(await rejection(db.tasks.findMany({ where: { byLower: "a" } }))).toMatchObject({ code });
    const rebuilt = (await planMigration(db)).steps.filter(({ kind }) => kind === "rebuild-index");
    expect(rebuilt.map(({ index }) => index)).toEqual(["byLower"]);
    expect(rebuilt[0]?.reason).toContain('such as reads: ["name"]');
    let reads = 0;
    const result = await migrate(db, {
      onProgress: () => {
        reads++;
        void read();
      },
    });
    expect(result.status).toBe("done");
    expect(reads).toBeGreaterThan(0);
    expect(await read()).toEqual([0, 0, 0]);
    await expectIndexesToMatch(kv, After);
  });

  it("leaves an index of copies or included fields readable, with the upgraded rows", async () => {
    const indexes = {
      byTeamCopy: { key: "team", store: "copy", unique: true },
      byStateCopy: { key: "state", store: "copy" },
      byTeam: { key: "team", include: ["size"] },
    } as const;
    const sized = schema.extend({ size: z.string() });
    const Old = defineModel({ ...base, schema: sized, indexes });
    const New = defineModel({ ...base, schema: sized.extend({ size: z.int() }), indexes });
    const sizes = defineMigration({
      model: New,
      from: Old.schema,
      to: New.schema,
      up: (row) => {
        if (row.size === "?") throw new Error("no size");
        return { ...row, size: Number(row.size) };
      },
    });
    const old = await createDatabase({ kv, models: { tasks: Old } });
    const data = ["a", "b", "c", "d"].map((team, i) => ({ id: team, team, size: `${i}` }));
    await old.tasks.createMany({ data });
    await old.tasks.update({ where: { id: "d" }, data: { size: "?" } });
    const db = await createDatabase({ kv, models: { tasks: New }, migrations: [sizes] });
    const expectReadable = async () => {
      const byCopy = await db.tasks.findMany({ where: { state: "open" }, take: 3 });
      expect(byCopy.items.map(({ size }) => size)).toEqual([0, 1, 2]);
      const unique = await db.tasks.findUnique({ where: { team: "c" } });
      expect(unique?.size).toBe(2);
      const select = { size: true } as const;
      const included = await db.tasks.findMany({ index: "byTeam", where: { team: "b" }, select });
      expect(included.items).toEqual([{ size: 1 }]);
    };
    await expectReadable();
    const { steps } = await planMigration(db);
    expect(steps.map(({ kind }) => kind)).toEqual(["transform-rows"]);
    expect((await migrate(db)).status).toBe("failed-rows");
    await expectReadable();
    const taken = db.tasks.create({ data: { id: "e", team: "a", size: 5 } });
    expect(await rejection(taken)).toMatchObject({ index: "byTeamCopy" });
    await db.tasks.delete({ where: { id: "d" } });
    expect((await migrate(db)).status).toBe("done");
    await expectReadable();
    await expectIndexesToMatch(kv, New);
  });
});

function hasTeam(task: { readonly team: string }): boolean {
  return task.team !== "";
}
