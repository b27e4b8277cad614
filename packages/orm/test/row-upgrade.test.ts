import { describe, expect, it } from "vitest";
import * as z from "zod";
import { compileModel } from "../src/codegen.js";
import { defineModel } from "../src/index.js";
import { defineMigration, type RowMigration } from "../src/state/schema/define-migration.js";
import type { RowManifest } from "../src/state/schema/manifests/manifest.js";
import { rowManifest } from "../src/state/schema/manifests/row-manifest.js";
import { affectedIndexes, fieldChanges } from "../src/state/schema/upgrade/affected-indexes.js";
import { findUpgrade, type RowUpgrade } from "../src/state/schema/upgrade/row-upgrade.js";

const id = z.string();
const v1 = z.object({ id, age: z.string() });
const v2 = z.object({ id, age: z.number() });
const v3 = z.object({ id, years: z.number() });
const modelOf = (schema: z.ZodObject) =>
  defineModel({ name: "people", schema, primaryKey: "id" } as never);
const migrate = (
  name: string,
  from: z.ZodObject,
  to: z.ZodObject,
  up: object,
  down?: object,
): RowMigration =>
  defineMigration({ model: modelOf(to), name, from, to, up, ...(down && { down }) } as never);
const find = (
  from: z.ZodObject,
  to: z.ZodObject,
  ...migrations: RowMigration[]
): RowUpgrade | undefined =>
  findUpgrade(
    rowManifest(from, ["id"]),
    compileModel(modelOf(to)),
    rowManifest(to, ["id"]),
    migrations,
  );

type Row = Record<string, unknown>;
const toNumber = migrate(
  "numbers",
  v1,
  v2,
  (row: Row) => ({ ...row, age: Number(row.age) }),
  (row: Row) => ({ ...row, age: String(row.age) }),
);
const rename = migrate("years", v2, v3, ({ age, ...row }: Row) => ({ ...row, years: age }));
const row = Object.freeze({ id: "a", age: "7" });

describe("the way between the rows of two schemas", () => {
  it("is none where they are the same", () => {
    expect(find(v1, v1)).toMatchObject({
      steps: [],
      isIdentity: true,
      sideBySide: true,
      goesBack: false,
      changes: [],
      fields: [],
    });
  });

  it("changes nothing where they differ by what is safe, and makes a new row", () => {
    const way = find(v1, v1.extend({ note: z.string().optional() }));
    expect(way).toMatchObject({ isIdentity: true, sideBySide: true, changes: [{ field: "note" }] });
    expect(way?.up(row)).toEqual(row);
    expect(way?.up(row)).not.toBe(row);
    expect(find(v1, v1.extend({ age: z.string().nullable() }))).toMatchObject({
      isIdentity: true,
      sideBySide: false,
    });
  });

  it("fills defaults in where a row lacks them, and nowhere else", () => {
    let count = 0;
    const to = v1.extend({
      n: z.number().default(() => ++count),
      at: z.date().prefault(new Date(0)),
    });
    const way = find(v1, to);
    expect(way).toMatchObject({
      steps: [],
      isIdentity: false,
      sideBySide: false,
      fields: ["at", "n"],
    });
    expect(way?.up(row)).toEqual({ ...row, n: 1, at: new Date(0) });
    expect(way?.up({ ...row, n: 5 })).toEqual({ ...row, n: 5, at: new Date(0) });
    expect(row).toEqual({ id: "a", age: "7" });
  });

  it("says which default does not fit, or takes time", () => {
    const narrow = v1.extend({ n: z.string().prefault("").pipe(z.string().min(1)) });
    expect(() => find(v1, narrow)?.up(row)).toThrow(
      expect.objectContaining({
        code: "KW_ROW_INVALID",
        issues: [expect.objectContaining({ path: ["n"] })],
      }),
    );
    const slow = v1.extend({
      n: z
        .string()
        .prefault("")
        .refine(async () => true),
    });
    expect(() => find(v1, slow)?.up(row)).toThrow(
      expect.objectContaining({ code: "KW_ARGUMENT_INVALID", argument: "schema.n" }),
    );
  });

  it("is by migrations in a row", () => {
    const way = find(v1, v3, rename, toNumber);
    expect(way).toMatchObject({
      steps: ["numbers", "years"],
      isIdentity: false,
      goesBack: false,
      sideBySide: false,
      changes: [],
    });
    expect(way?.up(row)).toEqual({ id: "a", years: 7 });
    expect(new Set(way?.fields)).toEqual(new Set(["age", "years"]));
  });

  it("takes the fewest migrations", () => {
    const direct = migrate("direct", v1, v3, ({ id: of }: Row) => ({ id: of, years: 0 }));
    expect(find(v1, v3, toNumber, rename, direct)?.steps).toEqual(["direct"]);
  });

  it("goes back by what a migration says of it", () => {
    const way = find(v2, v1, toNumber);
    expect(way).toMatchObject({ steps: ["numbers"], goesBack: true });
    expect(way?.up({ id: "a", age: 7 })).toEqual(row);
  });

  it("is by migrations before and behind what is safe or filled in", () => {
    const v0 = z.object({ id, age: z.enum(["1", "7"]) });
    const v4 = v3.extend({ at: z.number().default(3), note: z.string().optional() });
    const way = find(v0, v4, toNumber, rename);
    expect(way?.steps).toEqual(["numbers", "years"]);
    expect(way?.up(row)).toEqual({ id: "a", years: 7, at: 3 });
    expect(way?.changes.map(({ field }) => field)).toEqual(["age", "at", "note"]);
  });

  it("fills in what a migration needs of rows before it", () => {
    const from = v1.extend({ unit: z.string().default("y") });
    const joined = migrate("joined", from, v3, ({ age, unit, ...rest }: Row) => ({
      ...rest,
      years: unit === "y" ? Number(age) : 0,
    }));
    expect(find(v1, v3, joined)?.up(row)).toEqual({ id: "a", years: 7 });
  });

  it("is by a declared migration rather than by what is safe, from exactly the rows that are there", () => {
    const to = v1.extend({ note: z.string().optional() });
    const noted = migrate("noted", v1, to, (old: Row) => ({ ...old, note: "was here" }));
    expect(find(v1, to, noted)?.steps).toEqual(["noted"]);
    const later = to.extend({ more: z.string().optional() });
    expect(find(v1, later, noted)?.steps).toEqual(["noted"]);
    // Rows that have come that far already do not take it again.
    expect(find(to, later, noted)).toMatchObject({ steps: [], isIdentity: true });
  });

  it("is by a declared migration also where others come before it", () => {
    const to = v2.extend({ note: z.string().optional() });
    const noted = migrate("noted", v2, to, (old: Row) => ({ ...old, note: "was here" }));
    const later = to.extend({ more: z.string().optional() });
    expect(find(v2, later, toNumber, noted)?.steps).toEqual(["noted"]);
    expect(find(v1, later, toNumber, noted)).toMatchObject({
      steps: ["numbers", "noted"],
      leftOut: [],
    });
  });

  it("is by a declared migration rather than by a default, also where others come before it", () => {
    const to = v2.extend({ level: z.int() });
    const levels = migrate("levels", v2, to, (old: Row) => ({ ...old, level: 9 }));
    const later = v2.extend({ level: z.int().default(1), more: z.string().optional() });
    expect(find(v2, later, toNumber, levels)?.steps).toEqual(["levels"]);
    expect(find(v1, later, toNumber, levels)?.steps).toEqual(["numbers", "levels"]);
  });

  describe("with a migration that changes what both schemas allow", () => {
    const stored = v1.extend({ due: z.date().optional(), level: z.int().max(4) });
    const required = stored.extend({ due: z.date() });
    const wider = stored.extend({ level: z.int().max(5) });
    const to = wider.omit({ age: true }).extend({ years: z.string() });
    const fillDue = (old: Row) => ({ ...old, due: old.due ?? new Date(0) });
    const dueIsRequired = migrate("due", stored, required, fillDue, (old: Row) => old);
    const renamed = migrate("renamed", wider, to, ({ age, ...rest }: Row) => ({
      ...rest,
      years: age,
    }));
    const old = { ...row, level: 1 };

    it.each([
      ["declared first", [dueIsRequired, renamed]],
      ["declared last", [renamed, dueIsRequired]],
    ] as const)("leaves that out, %s", (_, migrations) => {
      const way = find(stored, to, ...migrations);
      expect(way).toMatchObject({ steps: ["renamed"], leftOut: ["due"] });
      expect(way?.up(old)).toEqual({ id: "a", level: 1, years: "7" });
    });

    it("leaves that out where no other is needed", () => {
      const way = find(stored, wider, dueIsRequired);
      expect(way).toMatchObject({ steps: [], leftOut: ["due"], isIdentity: true });
    });

    it("leaves out several in a row", () => {
      const late = required.extend({ isLate: z.boolean() });
      const judged = migrate("late", required, late, (of: Row) => ({ ...of, isLate: true }));
      const loose = wider.extend({ isLate: z.boolean().optional() });
      const way = find(stored, loose, dueIsRequired, judged);
      expect(way).toMatchObject({ steps: [], leftOut: ["due"], isIdentity: true });
    });

    it("takes it where the model asks for what it does", () => {
      const wanted = wider.extend({ due: z.date() });
      expect(find(stored, wanted, dueIsRequired)?.steps).toEqual(["due"]);
      const later = wanted.extend({ note: z.string().optional() });
      expect(find(stored, later, dueIsRequired)?.steps).toEqual(["due"]);
    });

    it("takes it where it brings what would be filled in otherwise", () => {
      const scored = required.extend({ score: z.int() });
      const scores = migrate("scores", stored, scored, (of: Row) => ({
        ...fillDue(of),
        score: 9,
      }));
      const model = wider.extend({ score: z.int().default(1) });
      expect(find(stored, model, scores)?.up(old)).toMatchObject({ score: 9 });
    });

    it("takes it from rows that have come that far", () => {
      const shut = migrate("shut", required, v3, ({ age, due, level, ...rest }: Row) => ({
        ...rest,
        years: Number(age),
      }));
      expect(find(stored, v3, dueIsRequired, shut)?.steps).toEqual(["due", "shut"]);
    });
  });

  it("does not go back where it can continue", () => {
    const to = v2.extend({ note: z.string().optional() });
    expect(find(v2, to, toNumber)).toMatchObject({ steps: [], goesBack: false });
  });

  it("leaves fields unseen only where nothing else is left", () => {
    const [from, to] = [v1.extend({ old: z.string() }), v1];
    expect(find(from, to)).toMatchObject({
      isIdentity: true,
      sideBySide: false,
      changes: [{ class: "breaking", field: "old" }],
    });
    expect(find(from, to)?.up({ ...row, old: "x" })).toEqual({ ...row, old: "x" });
    const removed = migrate("removed", from, to, ({ old, ...rest }: Row) => rest);
    expect(find(from, to, removed)).toMatchObject({ steps: ["removed"], changes: [] });
    expect(find(from, to, removed)?.up({ ...row, old: "x" })).toEqual(row);
  });

  it("takes a longer way on which no field is left unseen", () => {
    const from = v1.extend({ old: z.string() });
    const noted = from.extend({ note: z.string().optional() });
    const removed = migrate("removed", noted, v1, ({ old, note, ...rest }: Row) => rest);
    expect(find(from, v1, removed)).toMatchObject({
      steps: ["removed"],
      changes: [{ field: "note" }],
    });
  });

  it("is none where a migration is missing, is another model's, or the primary key is another", () => {
    expect(find(v1, v2)).toBeUndefined();
    expect(find(v1, v3, rename)).toBeUndefined();
    expect(find(v1, v2, { ...toNumber, model: "others" })).toBeUndefined();
    expect(find(v1, v1.extend({ id: z.number() }))).toBeUndefined();
  });
});

describe("the indexes that a change of rows leaves behind", () => {
  const model = compileModel(
    defineModel({
      name: "people",
      schema: z.object({ id, age: z.number(), name: z.string() }),
      primaryKey: "id",
      indexes: {
        byAge: { key: ["name", "age"] },
        byName: { key: "name" },
        byLength: { key: (one) => one.name.length },
        byAdult: { key: "name", where: (one) => one.age > 17, prefix: "adults" },
        byNameCopy: { key: "name", store: "copy" },
        byNameAge: { key: "name", include: ["age"] },
        byNameId: { key: "name", include: ["id"], prefix: "ids" },
        byAge17: { key: "name", where: { age: 17 } },
        byAgeOfName: { key: [(one) => one.age, "name"], reads: ["age"] },
        byLongName: { key: "name", where: (one) => one.name.length > 9, reads: ["name"] },
        byWhole: { key: "name", where: (one) => isOpen(one), prefix: "whole" },
        byNoted: { key: "name", where: (one) => isOpen(one, "note"), prefix: "noted" },
        byVersion: { key: (one) => one.name, version: 1 },
        byVersioned: { key: "name", where: { age: 3 }, version: 1, prefix: "versioned" },
      },
    }),
  );
  const stored = (fields: object, left: object = {}) =>
    ({ ...rowManifest(z.object({ id }), ["id"]), fields, left }) as RowManifest;
  const names = (fields: string[], from = stored({ id, age: {}, name: {}, title: {} })) =>
    affectedIndexes(model, [fieldChanges(from, fields)]).map((index) => index.name);
  const whole = ["byWhole", "byNoted", "byVersion"];

  it("are those whose keys depend on its fields", () => {
    const byAge = ["byAge", "byAdult", "byAge17", "byAgeOfName"];
    expect(names(["age"])).toEqual([...byAge, ...whole, "byVersioned"]);
    expect(names(["name"])).toEqual(model.indexes.map((index) => index.name));
    expect(names([])).toEqual([]);
  });

  it("are also those whose functions may read any field that rows had before", () => {
    expect(names(["title"])).toEqual(whole);
    expect(names(["title"], stored({}, { title: {} }))).toEqual(whole);
    expect(names(["title"], stored({ "*": {} }))).toEqual(whole);
  });

  it("are not those whose functions do not name a field that is added", () => {
    expect(names(["estimate"])).toEqual(["byVersion"]);
    expect(names(["note"])).toEqual(["byNoted", "byVersion"]);
  });

  it("are affected by each of several changes by itself", () => {
    const [first, second] = [stored({ estimate: {} }), stored({})];
    const changes = [first, second].map((from) => fieldChanges(from, ["estimate"]));
    expect(affectedIndexes(model, changes).map((index) => index.name)).toEqual(whole);
  });
});

function isOpen(row: object, field = "id"): boolean {
  return field in row;
}
