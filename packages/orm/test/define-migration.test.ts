import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { defineModel } from "../src/index.js";
import { defineMigration, type RowMigration } from "../src/state/schema/define-migration.js";
import { rowManifest } from "../src/state/schema/manifests/row-manifest.js";

const before = z.object({
  id: z.string(),
  first: z.string(),
  last: z.string(),
  email: z.string(),
  tags: z.array(z.string()).optional(),
});
const after = before.omit({ first: true, last: true }).extend({ name: z.string().min(1) });
const User = defineModel({ name: "users", schema: after, primaryKey: "id" });
const up = ({ first, last, ...rest }: z.output<typeof before>) => ({
  ...rest,
  name: `${first} ${last}`,
});
const define = (part: object = {}): RowMigration =>
  defineMigration({ model: User, from: before, to: after, up, ...part });
const row = { id: "1", first: "Ada", last: "L", email: "a@b.c", tags: ["x"] };
const thrown = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("it did not throw");
};

describe("a migration", () => {
  it("makes a row of the one schema one of the other", () => {
    const { up: run, name, model, from, to, changes } = define();
    expect(run(row)).toEqual({ id: "1", email: "a@b.c", tags: ["x"], name: "Ada L" });
    expect([from, to]).toEqual([rowManifest(before, ["id"]), rowManifest(after, ["id"])]);
    expect(model).toBe("users");
    expect(name).toBe(`users: ${from.hash.slice(0, 4)}… → ${to.hash.slice(0, 4)}…`);
    expect(changes).toEqual(["name", "first", "last"]);
    expect(define({ name: "full names" }).name).toBe("full names");
  });

  it("goes back where it says how", () => {
    expect(define().down).toBeUndefined();
    const down = ({ name, ...rest }: z.output<typeof after>) => {
      const [first = "", last = ""] = name.split(" ");
      return { ...rest, first, last };
    };
    const migration = define({ down });
    expect(migration.down?.(migration.up(row))).toEqual(row);
  });

  it("does not touch the row that it is given", () => {
    const given = structuredClone(row);
    const { up: run } = define({
      changes: ["tags"],
      up: (old: z.output<typeof before>) => {
        old.tags?.push("y");
        const name = old.first;
        old.first = "?";
        return { ...old, name };
      },
    });
    expect(run(given)).toEqual({ id: "1", email: "a@b.c", tags: ["x", "y"], name: "Ada" });
    expect(given).toEqual(row);
  });

  it("leaves fields that neither schema knows as they are, and shows them to nobody", () => {
    const seen: unknown[] = [];
    const { up: run } = define({
      up: (old: z.output<typeof before>) => {
        seen.push(old);
        return up(old);
      },
    });
    expect(run({ ...row, later: 5 })).toMatchObject({ later: 5, name: "Ada L" });
    expect(seen).toEqual([row]);
  });

  it.each<[string, unknown, object]>([
    ["a promise", async () => ({}), { code: "KW_ARGUMENT_INVALID", argument: "up" }],
    [
      "a promise in other clothes",
      () => Promise.reject(new Error("x")),
      { argument: "up", reason: expect.stringContaining("promise") },
    ],
    ["nothing", () => undefined, { argument: "up", reason: "it must return a row" }],
    ["a list", () => [], { argument: "up", reason: "it must return a row" }],
    [
      "a row that does not fit",
      (old: object) => old,
      { code: "KW_ROW_INVALID", issues: [{ path: ["name"] }] },
    ],
    [
      "another primary key",
      (old: typeof row) => ({ ...up(old), id: "2" }),
      { code: "KW_PRIMARY_KEY_CHANGED", field: "id" },
    ],
    [
      "a change that is not stated",
      (old: typeof row) => ({ ...up(old), email: "x" }),
      {
        code: "KW_ARGUMENT_INVALID",
        reason: expect.stringContaining('"email"'),
      },
    ],
  ])("refuses %s", (_, given, error) => {
    expect(thrown(() => define({ up: given }).up(row))).toMatchObject({ model: "users", ...error });
  });

  it("takes a change that is stated", () => {
    const lower = { up: (old: typeof row) => ({ ...up(old), email: "x" }), changes: ["email"] };
    expect(define(lower).up(row)).toMatchObject({ email: "x" });
    expect(define(lower).changes).toContain("email");
  });

  it("fills in what its function leaves to the schema's defaults, and what it returns stays", () => {
    const tagged = after.extend({
      level: z.string().transform(Number).default(1),
      tags: z.array(z.string()).default(["new"]),
      note: z.string().default("-").optional(),
    });
    const { up: run } = define({ to: tagged });
    const { tags: _, ...untagged } = row;
    expect(run(untagged)).toEqual({
      id: "1",
      email: "a@b.c",
      name: "Ada L",
      level: 1,
      tags: ["new"],
    });
    expect(run(row)).toMatchObject({ tags: ["x"] });
    const given = define({ to: tagged, up: (old: typeof row) => ({ ...up(old), level: 5 }) });
    expect(given.up(row)).toMatchObject({ level: 5 });
    const down = (now: object) => ({ ...now, first: "A", last: "L" });
    const back = define({ from: before.extend({ age: z.int().default(7) }), down });
    expect(back.down?.({ id: "1", email: "a@b.c", name: "A L" })).toMatchObject({ age: 7 });
  });

  it("does not take a default for a field that its function drops", () => {
    const both = { age: z.int().default(7) };
    const { up: run } = define({ from: before.extend(both), to: after.extend(both) });
    expect(run({ ...row, age: 5 })).toMatchObject({ age: 5 });
    const drops = ({ age: _, ...old }: typeof row & { age: number }) => up(old);
    const dropping = define({ from: before.extend(both), to: after.extend(both), up: drops });
    expect(thrown(() => dropping.up({ ...row, age: 5 }))).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      reason: expect.stringContaining('"age"'),
    });
  });

  it("has fields go that neither schema knows where the new one is strict", () => {
    const { up: run } = define({
      from: z.strictObject(before.shape),
      to: z.strictObject(after.shape),
    });
    expect(run({ ...row, later: 5 })).toEqual({
      id: "1",
      email: "a@b.c",
      tags: ["x"],
      name: "Ada L",
    });
  });

  it("lets through what its function throws", () => {
    const error = new Error("no");
    const fails = () => {
      throw error;
    };
    expect(thrown(() => define({ up: fails }).up(row))).toBe(error);
  });

  it.each<[string, object, object]>([
    ["no model", { model: "users" }, { argument: "model" }],
    ["no schema", { from: {} }, { argument: "from", reason: "it must be a z.object" }],
    ["a schema without the primary key", { to: z.object({ a: z.string() }) }, { argument: "to" }],
    ["another primary key", { from: before.extend({ id: z.number() }) }, { argument: "to" }],
    [
      "the same rows",
      { to: before.describe("x") },
      { argument: "to", reason: expect.stringContaining("updateMany") },
    ],
    ["no function", { up: 5 }, { argument: "up", reason: "it must be a function" }],
    ["no function back", { down: {} }, { argument: "down" }],
    ["an option that there is not", { dwon: up }, { code: "KW_MODEL_INVALID", at: "dwon" }],
    [
      "a field that there is not",
      { changes: ["mail"] },
      { code: "KW_MODEL_INVALID", at: "changes" },
    ],
    ["a change of the primary key", { changes: ["id"] }, { argument: "changes" }],
  ])("cannot be defined with %s", (_, part, error) => {
    expect(thrown(() => define(part))).toMatchObject(error);
  });

  it("has its rows' types", () => {
    defineMigration({
      model: User,
      from: before,
      to: after,
      changes: ["email"],
      up: (old) => {
        expectTypeOf(old).toEqualTypeOf<z.output<typeof before>>();
        return up(old);
      },
      down: (now) => {
        expectTypeOf(now).toEqualTypeOf<z.output<typeof after>>();
        return { ...now, first: now.name, last: "" };
      },
    });
    const defaulted = after.extend({
      level: z.string().transform(Number).default(1),
      note: z.string().optional(),
    });
    const migration = { model: User, from: before, to: defaulted };
    defineMigration({ ...migration, up });
    defineMigration({ ...migration, up: (old) => ({ ...up(old), level: 2 }) });
    defineMigration({ ...migration, up: (old) => ({ ...up(old), level: undefined, note: "x" }) });
    defineMigration({ model: User, from: z.looseObject(before.shape), to: defaulted, up });
    const loose = z.looseObject(defaulted.shape);
    defineMigration({ ...migration, to: loose, up: (old) => ({ ...up(old), other: 1 }) });
    defineMigration({
      model: User,
      from: defaulted,
      to: before,
      up: (old) => {
        expectTypeOf(old.level).toEqualTypeOf<number>();
        return { ...old, first: "", last: "" };
      },
      down: up,
    });
    const wrong = () => [
      // @ts-expect-error: what is returned is what the transform makes
      defineMigration({ ...migration, up: (old) => ({ ...up(old), level: "2" }) }),
      // @ts-expect-error: the name has no default
      defineMigration({ ...migration, up: ({ id, email }) => ({ id, email, level: 1 }) }),
      // @ts-expect-error: the name has no default in a loose one
      defineMigration({ ...migration, to: loose, up: ({ id, email }) => ({ id, email }) }),
      // @ts-expect-error: the row lacks the name
      defineMigration({ model: User, from: before, to: after, up: (old) => ({ ...old }) }),
      // @ts-expect-error: a promise is no row
      defineMigration({ model: User, from: before, to: after, up: async (old) => up(old) }),
      // @ts-expect-error: the primary key stays
      defineMigration({ model: User, from: before, to: after, changes: ["id"], up }),
    ];
    expect(wrong).toBeTypeOf("function");
  });
});
