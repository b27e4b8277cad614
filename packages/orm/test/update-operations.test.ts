import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, type UpdateInput } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";

const Item = defineModel({
  name: "items",
  schema: z.object({
    id: z.string(),
    stock: z.int().min(0).max(10),
    total: z.bigint().default(0n),
    size: z.number().nullish(),
    tags: z.array(z.string().trim().min(2)).max(4).default([]),
    codes: z.array(z.coerce.number()).optional(),
    pairs: z.array(z.array(z.number())).optional(),
    mixed: z.array(z.union([z.string(), z.array(z.string())])).optional(),
    points: z.array(z.tuple([z.number(), z.number()])).optional(),
    loose: z.array(z.unknown()).optional(),
    parts: z.array(z.object({ name: z.string().optional() })).optional(),
    words: z
      .string()
      .transform((text) => text.split(" "))
      .pipe(z.array(z.string()))
      .optional(),
    length: z
      .string()
      .transform((text) => text.length)
      .optional(),
    note: z.string().optional(),
    settings: z.object({ increment: z.number() }).optional(),
    anything: z.unknown(),
    free: z.union([z.number(), z.record(z.string(), z.number())]).optional(),
  }),
  primaryKey: "id",
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function openItem() {
  const db = await createDatabase({ kv, models: { items: Item } });
  const item = await db.items.create({ data: { id: "a", stock: 1, anything: 0 } });
  const where = { id: item.id };
  /** What is stored after an update. */
  const update = async (data: object) => {
    await db.items.update({ where, data: data as never });
    return (await kv.get<Record<string, unknown>>(["items", "a"])).value;
  };
  return { db, where, update };
}

describe("increment", () => {
  it("adds to a number and to a bigint, downwards too", async () => {
    const { update } = await openItem();
    expect(
      await update({ stock: { increment: 4 }, total: { increment: 2n ** 60n } }),
    ).toMatchObject({
      stock: 5,
      total: 2n ** 60n,
    });
    expect(await update({ stock: { increment: -5 } })).toMatchObject({ stock: 0 });
  });

  it("loses none of many at once", async () => {
    const { update } = await openItem();
    await Promise.all(Array.from({ length: 9 }, () => update({ stock: { increment: 1 } })));
    expect(await update({})).toMatchObject({ stock: 10 });
  });

  it("puts the sum to what the schema returns, and not through its transform", async () => {
    const { update } = await openItem();
    expect(await update({ length: "four" })).toMatchObject({ length: 4 });
    expect(await update({ length: { increment: 3 } })).toMatchObject({ length: 7 });
    const error = await rejection(update({ stock: { increment: 10 } }));
    expect(error).toMatchObject({
      code: "KW_ROW_INVALID",
      issues: [{ path: ["stock"], code: "too_big" }],
    });
  });

  it.each([
    ["a string", { note: { increment: 1 } }, "note"],
    ["an absent number", { size: { increment: 1 } }, "size"],
    ["a number by a bigint", { stock: { increment: 1n } }, "stock"],
    ["by no number", { stock: { increment: "1" } }, "stock"],
    ["by NaN", { stock: { increment: Number.NaN } }, "stock"],
  ])("refuses %s", async (_, data, field) => {
    const { update } = await openItem();
    expect(await rejection(update(data))).toMatchObject({
      code: "KW_ROW_INVALID",
      issues: [{ path: [field] }],
    });
  });
});

describe("push", () => {
  it("adds one element or several, which go through the schema of the elements", async () => {
    const { update } = await openItem();
    expect(await update({ tags: { push: " one " } })).toMatchObject({ tags: ["one"] });
    expect(await update({ tags: { push: ["two", "three"] }, codes: { push: "7" } })).toMatchObject({
      tags: ["one", "two", "three"],
      codes: [7],
    });
    expect(await update({ words: { push: "x" } })).toMatchObject({ words: ["x"] });
  });

  it("takes an array as the list of the elements, also where those are arrays", async () => {
    const { update } = await openItem();
    expect(await update({ pairs: { push: [[1, 2], [3]] } })).toMatchObject({
      pairs: [[1, 2], [3]],
    });
    expect(await update({ mixed: { push: ["a", ["b", "c"]] } })).toMatchObject({
      mixed: ["a", ["b", "c"]],
    });
    expect((await rejection(update({ pairs: { push: [4, 5] } }))).issues).toMatchObject([
      { path: ["pairs", 2] },
      { path: ["pairs", 3] },
    ]);
  });

  it("has to be a list, by its type, where an element may be an array", () => {
    type Data = UpdateInput<typeof Item>;
    expectTypeOf<{ tags: { push: string } }>().toExtend<Data>();
    expectTypeOf<{ tags: { push: readonly string[] } }>().toExtend<Data>();
    expectTypeOf<{ pairs: { push: number[] } }>().not.toExtend<Data>();
    expectTypeOf<{ pairs: { push: number[][] } }>().toExtend<Data>();
    expectTypeOf<{ mixed: { push: string } }>().not.toExtend<Data>();
    expectTypeOf<{ mixed: { push: (string | string[])[] } }>().toExtend<Data>();
    expectTypeOf<{ points: { push: [number, number] } }>().not.toExtend<Data>();
    expectTypeOf<{ points: { push: [number, number][] } }>().toExtend<Data>();
    expectTypeOf<{ loose: { push: string } }>().not.toExtend<Data>();
    expectTypeOf<{ loose: { push: unknown[] } }>().toExtend<Data>();
    expectTypeOf<{ parts: { push: { name?: string } } }>().toExtend<Data>();
    expectTypeOf<{ parts: { push: { name?: string }[] } }>().toExtend<Data>();
  });

  it("refuses elements and arrays that the schema refuses, saying which", async () => {
    const { update } = await openItem();
    await update({ tags: ["one", "two"] });
    const bad = await rejection(update({ tags: { push: ["three", "x"] } }));
    expect(bad.issues).toMatchObject([{ path: ["tags", 3], code: "too_small" }]);
    const many = await rejection(update({ tags: { push: ["three", "four", "five"] } }));
    expect(many.issues).toMatchObject([{ path: ["tags"], code: "too_big" }]);
    const none = await rejection(update({ note: { push: "x" } }));
    expect(none.issues).toMatchObject([{ path: ["note"] }]);
  });
});

describe("unset and set", () => {
  it("removes the property of an optional field, and brings a default back", async () => {
    const { update } = await openItem();
    await update({ note: "text", tags: ["one"] });
    const row = await update({ note: { unset: true }, tags: { unset: true } });
    expect(row).not.toHaveProperty("note");
    expect(row).toMatchObject({ tags: [] });
  });

  it("refuses to unset what has to be there, and anything but true", async () => {
    const { update } = await openItem();
    expect((await rejection(update({ stock: { unset: true } }))).issues).toMatchObject([
      { path: ["stock"] },
    ]);
    expect((await rejection(update({ note: { unset: false } }))).issues).toMatchObject([
      { path: ["note"] },
    ]);
  });

  it("sets a value, also one that looks like an operation", async () => {
    const { update } = await openItem();
    expect(await update({ note: { set: "x" }, anything: { set: { set: 1 } } })).toMatchObject({
      note: "x",
      anything: { set: 1 },
    });
  });
});

describe("an object of external input within set", () => {
  const operations = ["increment", "push", "unset", "set", "equals", "__proto__"].flatMap((name) =>
    ["1", "true", '"x"', "null", "{}", '["x"]', '{ "set": 1 }'].map((value): unknown =>
      JSON.parse(`{ "${name}": ${value} }`),
    ),
  );
  const pair = JSON.parse('{ "set": 1, "increment": 1 }') as object;

  it("is stored as it is in a field that takes any value", async () => {
    const { update } = await openItem();
    for (const value of [...operations, pair, [{ push: 1 }], { deep: { unset: true } }]) {
      const stored = await update({ anything: { set: value } });
      expect(stored?.anything).toEqual(value);
      expect(JSON.stringify(stored?.anything)).toBe(JSON.stringify(value));
    }
  });

  it("is refused in fields of other types, and no operation of it is made", async () => {
    const { update } = await openItem();
    const before = await update({ note: "text", tags: ["one"], size: 3 });
    for (const value of [...operations, pair]) {
      for (const field of ["stock", "total", "size", "tags", "codes", "note"]) {
        const { issues } = await rejection(update({ [field]: { set: value } }));
        expect(issues).toMatchObject([{ path: [field], code: expect.stringMatching("invalid") }]);
      }
    }
    expect((await kv.get(["items", "a"])).value).toEqual(before);
  });
});

describe("an object that may be an operation", () => {
  it("is a value where the field's own values may be objects, unless it is set or unset", async () => {
    const { update } = await openItem();
    expect(
      await update({ settings: { increment: 1 }, anything: { push: 1 }, free: { increment: 2 } }),
    ).toMatchObject({ settings: { increment: 1 }, anything: { push: 1 }, free: { increment: 2 } });
    expect(await update({ settings: { unset: true } })).not.toHaveProperty("settings");
  });

  it("is a value where it has another key beside it", async () => {
    const { update } = await openItem();
    const error = await rejection(update({ stock: { increment: 1, set: 2 } }));
    expect(error.issues).toMatchObject([{ path: ["stock"], code: "invalid_type" }]);
  });
});

describe("conditions of the schema as a whole", () => {
  const Span = defineModel({
    name: "spans",
    schema: z
      .object({
        id: z.string(),
        from: z.string().transform((text) => text.length),
        to: z.number(),
        note: z.string().optional(),
      })
      .refine(({ from, to }) => from <= to, { path: ["to"], error: "ends too early" }),
    primaryKey: "id",
  });

  it("see the stored row, and not what a transform would make of it again", async () => {
    const db = await createDatabase({ kv, models: { spans: Span } });
    const where = { id: "a" };
    await db.spans.create({ data: { id: "a", from: "xxx", to: 4 } });
    await db.spans.update({ where, data: { note: "fits" } });
    expect(await db.spans.update({ where, data: { from: "xx", to: 2 } })).toEqual({
      id: "a",
      from: 2,
      to: 2,
      note: "fits",
    });
    const error = await rejection(db.spans.update({ where, data: { to: 1 } }));
    expect(error).toMatchObject({
      code: "KW_ROW_INVALID",
      issues: [{ path: ["to"], message: "ends too early" }],
    });
  });

  it("hold where they take time", async () => {
    const Slow = defineModel({
      name: "slow",
      schema: z
        .object({
          id: z.string(),
          n: z.number(),
          tags: z.array(z.string().refine(async (t) => t !== "no")),
        })
        .refine(async ({ n }) => n > 0),
      primaryKey: "id",
    });
    const db = await createDatabase({ kv, models: { slow: Slow } });
    await db.slow.create({ data: { id: "a", n: 1, tags: [] } });
    const where = { id: "a" };
    const codes = await Promise.all(
      [{ n: { increment: -1 } }, { tags: { push: "no" } }, { tags: ["no"] }].map(async (data) => {
        return (await rejection(db.slow.update({ where, data }))).code;
      }),
    );
    expect(codes).toEqual(["KW_ROW_INVALID", "KW_ROW_INVALID", "KW_ROW_INVALID"]);
    expect(await db.slow.update({ where, data: { tags: { push: "yes" } } })).toMatchObject({
      tags: ["yes"],
    });
  });
});

it("writes what it was given when it was called, reading each property once", async () => {
  const { db, where } = await openItem();
  let reads = 0;
  const data = {
    get note() {
      reads++;
      return `read ${reads}`;
    },
  };
  const written = db.items.update({ where, data });
  expect((await written).note).toBe("read 1");
  const other = { note: "before" };
  const late = db.items.update({ where, data: other });
  other.note = "after";
  expect((await late).note).toBe("before");
  class Data {
    get id() {
      return "from a class";
    }
    anything = 0;
    stock = 3;
  }
  expect(await db.items.create({ data: new Data() })).toMatchObject({
    id: "from a class",
    stock: 3,
  });
});

it("refuses a list, and a field that would be the prototype", async () => {
  const { update } = await openItem();
  expect((await rejection(update([]))).code).toBe("KW_ROW_INVALID");
  const schema = z.looseObject({ id: z.string() });
  const Loose = defineModel({ name: "loose", schema, primaryKey: "id" });
  const db = await createDatabase({ kv, models: { loose: Loose } });
  await db.loose.create({ data: { id: "a" } });
  const data = JSON.parse('{"__proto__": {"polluted": true}}');
  expect((await rejection(db.loose.update({ where: { id: "a" }, data }))).code).toBe(
    "KW_ROW_INVALID",
  );
  const extra = { extra: { increment: 1 } } as never;
  expect(await db.loose.update({ where: { id: "a" }, data: extra })).toEqual({
    id: "a",
    extra: { increment: 1 },
  });
});

it("writes what was within its data when it was called, through any number of attempts", async () => {
  const { db, where } = await openItem();
  let turns = 0;
  const list = ["one"];
  const anything = { bytes: new Uint8Array([1]), map: new Map([["a", [1]]]), set: new Set([1]) };
  const racing = interferingKv(kv, async () => {
    list.push(`late ${turns}`);
    anything.bytes[0] = 2;
    anything.map.get("a")?.push(2);
    anything.set.add(2);
    if (turns++ === 0) await db.items.update({ where, data: { stock: 2 } });
  });
  const writer = await createDatabase({ kv: racing, models: { items: Item } });
  const written = writer.items.update({ where, data: { tags: list, anything } });
  list.push("at once");
  expect(await written).toMatchObject({
    stock: 2,
    tags: ["one"],
    anything: { bytes: new Uint8Array([1]), map: new Map([["a", [1]]]), set: new Set([1]) },
  });
  expect(turns).toBe(2);
});

it("takes values that contain themselves, are of a class or have a field that would be the prototype", async () => {
  const { update } = await openItem();
  const knot: Record<string, unknown> = { name: "knot" };
  knot.self = [knot, new Map([[knot, new Set([knot])]])];
  expect(await update({ anything: { set: knot } })).toMatchObject({ anything: knot });
  const bytes = Buffer.from("bytes");
  const stored = await update({ anything: [bytes, new Float64Array([0.5]), new Date(7)] });
  expect(stored?.anything).toEqual([new Uint8Array(bytes), new Float64Array([0.5]), new Date(7)]);
  const odd = JSON.parse('{"__proto__": {"list": [1]}}');
  const { anything } = (await update({ anything: [odd] })) as { anything: [object] };
  expect(Object.entries(anything[0])).toEqual([["__proto__", { list: [1] }]]);
});

it("takes away a field that may only be absent, and one that the schema does not name", async () => {
  const Extra = defineModel({
    name: "extra",
    schema: z
      .object({ id: z.string(), nick: z.exactOptional(z.string()), mood: z.string().optional() })
      .catchall(z.string()),
    primaryKey: "id",
  });
  const Loose = defineModel({
    name: "loose",
    schema: z.looseObject({ id: z.string(), size: z.number().optional() }),
    primaryKey: "id",
  });
  const db = await createDatabase({ kv, models: { extra: Extra, loose: Loose } });
  await db.extra.create({ data: { id: "a", nick: "n", mood: "m", other: "o", last: "l" } });
  const where = { id: "a" };
  const unset = { unset: true } as const;
  const data = { nick: unset, mood: unset, other: unset };
  expect(await db.extra.update({ where, data })).toEqual({ id: "a", last: "l" });
  expect(await kv.get(["extra", "a"])).toMatchObject({ value: { id: "a", last: "l" } });
  await db.loose.create({ data: { id: "a", size: 1, any: { set: 1 } } });
  expect(await db.loose.update({ where, data: { any: unset } })).toEqual({ id: "a", size: 1 });
  void (async () => {
    // @ts-expect-error a field that is named has a type of its own
    await db.loose.update({ where, data: { size: "1" } });
  });
});
