import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, type Database, defineModel, desc } from "../src/index.js";
import { rejection } from "./user-model.js";

const Reading = defineModel({
  name: "readings",
  schema: z.object({
    id: z.string(),
    at: z.date(),
    value: z.union([z.number(), z.nan()]),
    down: z.union([z.number(), z.nan()]),
    code: z.string(),
    seen: z.date(),
  }),
  primaryKey: "id",
  indexes: {
    byAt: { key: "at" },
    byValue: { key: "value" },
    byDown: { key: [desc("down")] },
    bySeen: { key: "seen", unique: true },
    // A number in the index, whatever the field is.
    byNumber: { key: "code", normalize: (code) => Number(code) },
  },
});
const never = new Date("2024-13-45");

let kv: EmbeddedKv;
let db: Database<{ readings: typeof Reading }>;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { readings: Reading } });
  for (const [i, value] of [1, 2, Number.NaN].entries()) {
    const at = new Date(2024, 0, i + 1);
    await db.readings.create({
      data: { id: `${i}`, at, seen: at, value, down: value, code: `${i}` },
    });
  }
});
afterEach(() => kv.close());

type Where = Parameters<typeof db.readings.deleteMany>[0]["where"];

const bounds = ["gt", "gte", "lt", "lte"].map((name): [string, (value: unknown) => unknown] => [
  name,
  (value) => ({ [name]: value }),
]);

describe.each([
  ...bounds,
  ["between, from it", (value: unknown) => ({ between: [value, value] })] as const,
])("a bound that nothing is below or above: %s", (_, conditionOf) => {
  it.each<[string, string, unknown]>([
    ["at", "an invalid date", never],
    ["value", "NaN", Number.NaN],
    ["code", "what normalize makes NaN of", "no number"],
  ])("of %s is refused as %s, and is no call for all rows", async (field, _, value) => {
    const where = { [field]: conditionOf(value) } as Where;
    for (const call of [
      () => db.readings.deleteMany({ where: where as { at: Date } }),
      () => db.readings.findMany({ where: where as { at: Date } }),
      () => db.readings.count({ where: where as { at: Date } }),
    ]) {
      expect(await rejection((async () => await call())())).toMatchObject({
        code: "KW_QUERY_INVALID",
        field,
      });
    }
    expect(await db.readings.count()).toBe(3);
  });
});

it("an invalid date is no value either: alone, in a list, or of a unique index", async () => {
  const refused = { code: "KW_QUERY_INVALID" };
  expect(await rejection(db.readings.count({ where: { at: never } }))).toMatchObject(refused);
  const list = { at: { in: [new Date(), never] } };
  expect(await rejection(db.readings.count({ where: list }))).toMatchObject(refused);
  const one = db.readings.findUnique({ where: { seen: never } });
  expect(await rejection(one)).toMatchObject({ ...refused, field: "seen" });
});

it("NaN is a value that a row can have", async () => {
  const { items } = await db.readings.findMany({ where: { value: Number.NaN } });
  expect(items.map(({ id }) => id)).toEqual(["2"]);
});

it.each([
  ["ascending", "value"],
  ["descending", "down"],
] as const)("no range of an %s field contains NaN", async (_, field) => {
  const idsOf = async (where: object) =>
    (await db.readings.findMany({ where: where as { value: number } })).items.map(({ id }) => id);
  for (const [bounds, ids] of [
    [{ gt: Number.POSITIVE_INFINITY }, []],
    [{ gte: Number.POSITIVE_INFINITY }, []],
    [{ gt: 1 }, ["1"]],
    [{ gte: 1 }, ["0", "1"]],
    [{ lte: Number.POSITIVE_INFINITY }, ["0", "1"]],
    [{ lt: Number.NEGATIVE_INFINITY }, []],
    [{ gt: Number.NEGATIVE_INFINITY }, ["0", "1"]],
  ] as const) {
    const where = { [field]: bounds };
    expect((await idsOf(where)).sort()).toEqual(ids);
    expect(await db.readings.count({ where: where as never })).toBe(ids.length);
  }
});

it("texts that begin with a long one are looked for, or refused by the database that cannot hold it", async () => {
  const startsWith = "x".repeat(300_000);
  const found = db.readings.findMany({ where: { id: { startsWith } } }).then(
    ({ items }) => items,
    ({ name }: Error) => name,
  );
  expect(await found).not.toBe("RangeError");
  const last = String.fromCodePoint(0x10ffff);
  const ids = ["a", `a${last}`, `a${last}b`, `a${last}${last}c`, "b", "𝒳", "𝒳y", "𝒴"];
  for (const [i, id] of ids.entries()) {
    const at = new Date(i);
    await db.readings.create({ data: { id, at, seen: at, value: 1, down: 1, code: "1" } });
  }
  for (const prefix of ["a", `a${last}`, `a${last}${last}`, "𝒳", last]) {
    const { items } = await db.readings.findMany({ where: { id: { startsWith: prefix } } });
    expect(items.map(({ id }) => id)).toEqual(ids.filter((id) => id.startsWith(prefix)));
  }
});
