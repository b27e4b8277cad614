import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createDatabase,
  type Database,
  defineMigration,
  defineModel,
  type MigrationProgress,
  type MigrationResult,
  migrate,
  migrationStatus,
} from "../src/index.js";
import {
  findFailedRows,
  type MigrationPhase,
  planMigration,
  verifyIndexes,
} from "../src/migrate.js";
import { leaseKey } from "../src/state/run/lease.js";
import { Crash, crashAtEachCommit, crashingKv, denoKv } from "./faulty-kv.js";
import { Reports } from "./live-reports.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const schema = z.object({ id: z.string(), place: z.int(), tags: z.array(z.string()) });
const fields = {
  name: "seats",
  primaryKey: "id",
  count: true,
  live: true,
  indexes: {
    byPlace: { key: "place", unique: true },
    byTens: { key: (seat: { place: number }) => Math.floor(seat.place / 10), count: true },
    byTag: { key: "tags", each: true, store: "copy" },
    byHigh: { key: "id", where: (seat: { place: number }) => seat.place >= 500 },
  },
} as const;
const Old = defineModel({ ...fields, schema });
const Seat = defineModel({ ...fields, schema: schema.extend({ label: z.string() }) });
type Seats = Database<{ seats: typeof Seat }>;
type OldSeats = Database<{ seats: typeof Old }>;

const seatId = (i: number): string => `s${String(i).padStart(4, "0")}`;
const oldSeat = (i: number) => ({ id: seatId(i), place: i, tags: [`t${i % 5}`, "all"] });

/** More than one batch. */
const count = 600;
const all = Array.from({ length: count }, (_, i) => oldSeat(i));

const moveBy = (move: (place: number) => number, back?: (place: number) => number) =>
  defineMigration({
    model: Seat,
    from: schema,
    to: Seat.schema,
    changes: ["place", "tags"],
    up: ({ place, ...row }) => ({
      ...row,
      place: move(place),
      tags: [...row.tags, "moved"],
      label: `was ${place}`,
    }),
    ...(back && {
      down: ({ label, tags, place, ...row }: z.output<typeof Seat.schema>) => ({
        ...row,
        place: back(place),
        tags: tags.slice(0, -1),
      }),
    }),
  });
const mirror = (place: number) => count - 1 - place;
const exchange = moveBy(mirror, mirror);

async function openOld(migrations: ReturnType<typeof moveBy>[] = []): Promise<OldSeats> {
  return await createDatabase({ kv, models: { seats: Old }, migrations });
}
async function open(migration: ReturnType<typeof moveBy>, on: Kv = kv): Promise<Seats> {
  return await createDatabase({ kv: on, models: { seats: Seat }, migrations: [migration] });
}

/** Migrates, and calls a function after each batch that changes rows. */
async function migrateBeside(
  db: Seats | OldSeats,
  afterBatch: () => Promise<void>,
): Promise<MigrationResult & { readonly phases: Set<MigrationPhase> }> {
  const phases = new Set<MigrationPhase>();
  for (;;) {
    const stop = new AbortController();
    let batches = 0;
    const onProgress = ({ phase }: MigrationProgress) => {
      phases.add(phase);
      // The first progress of a phase is that of its beginning.
      if (phase === "transforming" && ++batches === 2) stop.abort();
    };
    const result = await migrate(db, { accept: true, signal: stop.signal, onProgress });
    if (result.status !== "stopped") return { ...result, phases };
    await afterBatch();
  }
}

async function storedSeats(): Promise<{ id: string; place: number; tags: string[] }[]> {
  const rows: { id: string; place: number; tags: string[] }[] = [];
  for await (const { value } of kv.list<(typeof rows)[number]>({ prefix: ["seats"] }))
    rows.push(value);
  return rows;
}

describe("while rows are changed, the entries of changed fields", () => {
  it("match the stored rows for old programs, and can be read by the new one when all are changed", async () => {
    const old = await openOld();
    await old.seats.createMany({ data: all });
    const db = await open(moveBy((place) => place + 1000));
    const take = count;
    const readByOld = async () => {
      // The old model has no label, so its rows have none.
      const stored = (await storedSeats()).map(({ id, place, tags }) => ({ id, place, tags }));
      const tens = await old.seats.findMany({ where: { byTens: 3 }, take });
      expect(tens.items).toEqual(stored.filter(({ place }) => Math.floor(place / 10) === 3));
      expect(await old.seats.count({ where: { byTens: 3 } })).toBe(tens.items.length);
      const moved = await old.seats.findMany({ where: { tags: { has: "moved" } }, take });
      expect(moved.items).toEqual(stored.filter(({ tags }) => tags.includes("moved")));
      const high = await old.seats.findMany({ index: "byHigh", where: { id: { gte: "" } }, take });
      expect(high.items).toEqual(stored.filter(({ place }) => place >= 500));
      for (const place of [2, 1002]) {
        const row = stored.find((seat) => seat.place === place) ?? null;
        expect(await old.seats.findUnique({ where: { place } })).toEqual(row);
      }
    };
    const notReady = async () => {
      const error = { code: "KW_INDEX_NOT_READY", state: "outdated" };
      expect(await rejection(db.seats.findUnique({ where: { place: 1 } }))).toMatchObject(error);
      expect(await rejection(db.seats.count({ where: { byTens: 3 } }))).toMatchObject(error);
    };
    await notReady();
    const { steps } = await planMigration(db);
    expect(steps.map(({ kind }) => kind)).toEqual(["transform-rows"]);
    let batches = 0;
    const { status, indexes, phases } = await migrateBeside(db, async () => {
      batches++;
      await readByOld();
      await expectIndexesToMatch(kv, Seat);
      const { models } = await migrationStatus(db);
      if (models[0]?.transform) await notReady();
    });
    expect({ status, indexes }).toEqual({ status: "done", indexes: [] });
    expect([...phases].sort()).toEqual(["counting", "transforming"]);
    expect(batches).toBeGreaterThan(1);
    await readByOld();
    await expectIndexesToMatch(kv, Seat);
    expect(await db.seats.findUnique({ where: { place: 1002 } })).toMatchObject({ label: "was 2" });
    expect(await db.seats.count({ where: { byTens: 103 } })).toBe(10);
  });

  it("keep values unique, and a row whose value is taken fails with the reason", async () => {
    const old = await openOld();
    await old.seats.createMany({ data: all });
    const db = await open(moveBy((place) => 1000 + (place % 500)));
    const data = { id: "x", tags: [], label: "" };
    const expectTaken = async (place: number) => {
      const error = await rejection(db.seats.create({ data: { ...data, place } }));
      expect(error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", index: "byPlace" });
    };
    let batches = 0;
    const { status, failed, indexes } = await migrateBeside(db, async () => {
      if (++batches > 1) return;
      await expectTaken(1000);
      await expectTaken(599);
      await db.seats.create({ data: { ...data, place: 1400 } });
    });
    expect({ status, indexes }).toEqual({ status: "failed-rows", indexes: [] });
    const reasonOf = (id: string) =>
      `The row "${id}" has the same value of the unique index byPlace.`;
    expect(failed.slice(0, 2).map(({ id, reason }) => [id, reason])).toEqual([
      [seatId(400), reasonOf("x")],
      [seatId(500), reasonOf(seatId(0))],
    ]);
    const { items } = await findFailedRows(db, { model: "seats", take: count });
    expect(items).toHaveLength(101);
    await expectIndexesToMatch(kv, Seat);
    // The index can be read although rows have failed.
    expect(await db.seats.findUnique({ where: { place: 1400 } })).toMatchObject({ id: "x" });
    expect(await db.seats.count({ where: { byTens: 100 } })).toBe(10);
    const again = await migrate(db);
    expect(again.status).toBe("failed-rows");
    expect(await db.seats.findUnique({ where: { place: 1400 } })).toMatchObject({ id: "x" });
    for (const { id } of items) await db.seats.delete({ where: { id: String(id) } });
    expect((await migrate(db)).status).toBe("done");
    await expectIndexesToMatch(kv, Seat);
  });

  it("are reported to live queries of old programs, and to those of the new one when all are changed", async () => {
    const old = await openOld();
    await old.seats.createMany({ data: all.slice(0, 60) });
    const reports = new Reports(old.seats.watchMany({ where: { byTens: 3 } }));
    expect(await reports.next()).toEqual(all.slice(30, 40));
    const db = await open(moveBy((place) => place + 1000));
    const early = new Reports(db.seats.watchMany({ where: { byTens: 103 } }));
    expect(await rejection(early.next())).toMatchObject({ code: "KW_INDEX_NOT_READY" });
    // The rows leave the range in one batch, or in several.
    const gone = reports.nextThat((rows) => (rows as unknown[]).length === 0);
    expect((await migrate(db)).status).toBe("done");
    expect(await gone).toEqual([]);
    await reports.cancel();
    const later = new Reports(db.seats.watchMany({ where: { byTens: 103 } }));
    expect(((await later.next()) as { id: string }[]).map(({ id }) => id)).toEqual(
      all.slice(30, 40).map(({ id }) => id),
    );
    await later.cancel();
  });

  it("are written again by a program that goes back", async () => {
    const old = await openOld();
    await old.seats.createMany({ data: all });
    const db = await open(exchange);
    let batches = 0;
    const stop = new AbortController();
    await migrate(db, {
      signal: stop.signal,
      onProgress: () => {
        if (++batches === 4) stop.abort();
      },
    });
    const forms = new Set((await storedSeats()).map(({ tags }) => tags.includes("moved")));
    expect(forms.size).toBe(2);
    const back = await openOld([exchange]);
    const { status, plan } = await migrate(back, { accept: true });
    expect(status).toBe("done");
    // Rows have taken unique values of rows that are to keep theirs.
    const rebuilt = plan.steps.filter(({ kind }) => kind === "rebuild-index");
    expect(rebuilt.map(({ id, class: kind }) => [id, kind])).toEqual([
      ["seats.byPlace: rebuild-index", "breaking"],
    ]);
    expect(await storedSeats()).toEqual(all);
    await expectIndexesToMatch(kv, Old);
    expect((await migrate(db, { accept: true })).status).toBe("done");
    await expectIndexesToMatch(kv, Seat);
    const again = await openOld([exchange]);
    const { plan: backPlan } = await migrate(again, { accept: true });
    expect(backPlan.steps.map(({ kind }) => kind)).not.toContain("rebuild-index");
    expect(await storedSeats()).toEqual(all);
    await expectIndexesToMatch(kv, Old);
  });
});

describe("while rows exchange unique values", () => {
  /** Rows that are changed up to a place. Their values were those of rows that are not. */
  async function begun(): Promise<Seats> {
    const old = await openOld();
    await old.seats.createMany({ data: all });
    const db = await open(exchange);
    const stop = new AbortController();
    let batches = 0;
    const onProgress = ({ phase }: MigrationProgress) => {
      if (phase === "transforming" && ++batches === 2) stop.abort();
    };
    expect((await migrate(db, { signal: stop.signal, onProgress })).status).toBe("stopped");
    return db;
  }
  const last = count - 1;

  it("a row cannot keep a value that another row has taken", async () => {
    const db = await begun();
    expect((await storedSeats())[0]).toMatchObject({ place: last });
    expect((await storedSeats())[last]).toMatchObject({ place: last });
    const where = { id: seatId(last) };
    for (const atomic of [false, true]) {
      const keep = atomic
        ? db.transaction((tx) => tx.seats.update({ where, data: { place: last } }))
        : db.seats.update({ where, data: { place: last } });
      expect(await rejection(keep)).toMatchObject({
        code: "KW_UNIQUE_CONSTRAINT",
        index: "byPlace",
        ownerId: seatId(0),
      });
    }
    expect((await verifyIndexes(db, { repair: true })).status).toBe("clean");
    // Row 0 has given up the value that this one gets.
    await db.seats.update({ where, data: { label: "mine" } });
    const middle = { id: seatId(300) };
    await db.seats.update({ where: middle, data: { place: 5000 } });
    await db.seats.delete({ where: { id: seatId(last - 1) } });
    expect((await migrate(db)).status).toBe("done");
    const expected = all
      .map(({ id, place }) => ({ id, place: id === middle.id ? 5000 : mirror(place) }))
      .filter(({ id }) => id !== seatId(last - 1));
    expect((await storedSeats()).map(({ id, place }) => ({ id, place }))).toEqual(expected);
    await expectIndexesToMatch(kv, Seat);
  });

  it("a row that fails keeps its value, and nothing is lost when it is corrected", async () => {
    const db = await begun();
    // The value that row 599 gives up is taken. The one that it would get is taken now.
    await db.seats.update({ where: { id: seatId(1) }, data: { place: 0 } });
    const { status, failed } = await migrate(db);
    expect(status).toBe("failed-rows");
    expect(failed.map(({ id }) => id)).toEqual([seatId(last)]);
    expect(await db.seats.findUnique({ where: { place: last } })).toMatchObject({ id: seatId(0) });
    const keep = db.seats.update({ where: { id: seatId(last) }, data: { place: last } });
    expect(await rejection(keep)).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT" });
    await db.seats.update({ where: { id: seatId(0) }, data: { place: 7000 } });
    await db.seats.update({ where: { id: seatId(last) }, data: { place: last } });
    expect((await migrate(db)).status).toBe("done");
    await expectIndexesToMatch(kv, Seat);
  });
});

describe("after a crash at any commit of a migration", () => {
  it("the entries of changed fields match the rows when the next run ends", async () => {
    const few = all.slice(0, 12);
    const swap = moveBy((place) => few.length - 1 - place);
    const last = await crashAtEachCommit(async (at) => {
      const place = await openKv();
      try {
        const old = await createDatabase({ kv: place, models: { seats: Old } });
        await old.seats.createMany({ data: few });
        // The limits of Deno KV let a commit change few rows.
        const dying = await open(swap, denoKv(crashingKv(place, at, at % 2 ? "before" : "after")));
        const crashed = await migrate(dying).catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error;
          return "crashed" as const;
        });
        await place.delete(leaseKey);
        const db = await open(swap, denoKv(place));
        expect((await migrate(db)).status).toBe("done");
        const { items } = await db.seats.findMany({ where: { place: { gte: 0 } } });
        expect(items.map(({ id }) => id)).toEqual(few.map(({ id }) => id).reverse());
        await expectIndexesToMatch(place, Seat);
        return crashed === "crashed";
      } finally {
        await place.close();
      }
    });
    expect(last).toBeGreaterThan(8);
  });
});
