import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Rows, rowsOf } from "../src/codegen.js";
import { createDatabase, defineModel } from "../src/index.js";

const Seat = defineModel({
  name: "seats",
  schema: z.object({
    hall: z.string(),
    day: z.date(),
    guest: z.string(),
    code: z.string().transform((code) => code.trim()),
    tags: z.array(z.string()).default([]),
  }),
  primaryKey: ["hall", "day"],
  indexes: {
    byGuest: { key: "guest", unique: true, normalize: (guest) => guest.toLowerCase() },
    byCode: { key: "code", unique: true },
    byTag: { key: "tags", unique: true, each: true },
    byInitial: { key: (seat) => seat.guest[0], unique: true },
    byOpenGuest: { key: "guest", unique: true, where: (seat) => seat.hall === "open" },
  },
});

type SeatRow = z.output<typeof Seat.schema>;
type SeatCreate = z.input<typeof Seat.schema>;

const day = new Date(5);
const where = { hall: "h", day };
const guest = { guest: "Ada", code: "c1" };
const seat: SeatRow = { hall: "h", day, guest: "Ada", code: "c1", tags: [] };
const refused = { code: "KW_ARGUMENT_INVALID", argument: "create", operation: "upsert" };

let kv: EmbeddedKv;
let seats: Rows<SeatRow, SeatCreate, Partial<SeatCreate>>;

beforeEach(async () => {
  kv = await openKv();
  seats = rowsOf(await createDatabase({ kv, models: { seats: Seat } }), "seats");
});
afterEach(() => kv.close());

async function rows(): Promise<SeatRow[]> {
  return (await seats.scan()).items;
}

describe("a row that is created by an upsert has the key that names it:", () => {
  it("the primary key's fields are filled in", async () => {
    expect(await seats.upsert({ where, create: guest, update: {} })).toEqual(seat);
    const again = { create: { ...guest, hall: undefined as never }, update: { guest: "Eve" } };
    expect(await seats.upsert({ where, ...again })).toEqual({ ...seat, guest: "Eve" });
    expect(await rows()).toHaveLength(1);
  });

  it("a field whose name every object has is filled in, and so is an id", async () => {
    const schema = z.object({ constructor: z.string(), n: z.int() });
    const Word = defineModel({ name: "words", schema, primaryKey: "constructor" });
    const Event = defineModel({
      name: "events",
      schema: z.object({ constructor: z.ulid(), n: z.int() }),
      primaryKey: "constructor",
    });
    class Given {
      readonly n = 1;
    }
    const db = await createDatabase({ kv, models: { words: Word, events: Event } });
    const words = rowsOf(db, "words");
    const row = { constructor: "w", n: 1 };
    expect(
      await words.upsert({ where: { constructor: "w" }, create: { n: 1 }, update: {} }),
    ).toEqual(row);
    await words.delete({ where: { constructor: "w" } });
    expect(
      await words.upsert({ where: { constructor: "w" }, create: new Given(), update: {} }),
    ).toEqual(row);
    const events = rowsOf(db, "events");
    for (const data of [{ n: 1 }, new Given()]) {
      expect(await events.create({ data })).toEqual({ constructor: expect.any(String), n: 1 });
    }
  });

  it("beside what an object of a class has from its prototype", async () => {
    class Given {
      get guest() {
        return "Ada";
      }
      get code() {
        return "c1";
      }
    }
    const create = new Given() as never;
    expect(await seats.upsert({ where, create, update: {} })).toEqual(seat);
  });

  it("equal ones may stand there, as another object too", async () => {
    const create = { ...guest, hall: "h", day: new Date(5) };
    expect(await seats.upsert({ where, create, update: {} })).toEqual(seat);
  });

  it("others are refused, and nothing is written", async () => {
    for (const other of [{ hall: "other" }, { day: new Date(6) }]) {
      const upserted = seats.upsert({ where, create: { ...guest, ...other }, update: {} });
      await expect(upserted).rejects.toMatchObject(refused);
    }
    const isNull = { create: { ...guest, hall: null as never }, update: {} };
    await expect(seats.upsert({ where, ...isNull })).rejects.toMatchObject({
      code: "KW_ROW_INVALID",
    });
    expect(await rows()).toEqual([]);
  });

  it("a field of a unique index is filled in, and compared as the index has it", async () => {
    const { guest: name, ...create } = seat;
    const byGuest = { index: "byGuest", where: { guest: "ADA" } };
    expect(await seats.upsert({ ...byGuest, create, update: {} })).toEqual({
      ...seat,
      guest: "ADA",
    });
    await seats.delete({ where });
    const spelled = { create: { ...create, guest: name }, update: {} };
    expect(await seats.upsert({ ...byGuest, ...spelled })).toEqual(seat);
    // As the schema makes it, not as it was given.
    await seats.delete({ where });
    const padded = { create: { ...seat, code: " c1 " }, update: {} };
    expect(await seats.upsert({ index: "byCode", where: { code: "c1" }, ...padded })).toEqual(seat);
  });

  it.each<[string, Record<string, unknown>, Partial<SeatRow>]>([
    ["byGuest", { guest: "bob" }, {}],
    ["byCode", { code: "c2" }, {}],
    ["byTag", { tags: "x" }, { tags: ["y", "z"] }],
    ["byInitial", { byInitial: "B" }, {}],
    ["byOpenGuest", { guest: "Ada" }, {}],
  ])("a row that is not in %s with the values is refused", async (index, key, fields) => {
    const upserted = seats.upsert({
      index,
      where: key,
      create: { ...seat, ...fields },
      update: {},
    });
    await expect(upserted).rejects.toMatchObject(refused);
    expect(await rows()).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, Partial<SeatRow>]>([
    ["byTag", { tags: "x" }, { tags: ["y", "x"] }],
    ["byInitial", { byInitial: "A" }, {}],
    ["byOpenGuest", { guest: "Ada" }, { hall: "open" }],
  ])("one that is in %s with the values is created", async (index, key, fields) => {
    const create = { ...seat, ...fields };
    expect(await seats.upsert({ index, where: key, create, update: {} })).toEqual(create);
  });
});
