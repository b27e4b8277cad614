import { openKv } from "@keywright/core";
import { createDatabase, type QueryEvent } from "@keywright/orm";
import { describe, expect, it } from "vitest";
import { repositoriesOf } from "./fixtures/league/generated/index.js";
import { Player, Team } from "./fixtures/league/models.js";

/** Opens the models on a new database with some rows. `c` is deleted. */
async function open() {
  const kv = await openKv();
  const events: QueryEvent[] = [];
  const db = await createDatabase({
    kv,
    models: { teams: Team, players: Player },
    onQuery: (event) => events.push(event),
  });
  await db.teams.createMany({ data: ["a", "b", "c"].map((id) => ({ id, name: `Team ${id}` })) });
  await db.players.createMany({
    data: Array.from({ length: 10 }, (_, i) => ({
      id: `p${i}`,
      teamId: i % 2 ? "a" : "b",
      score: i,
    })),
  });
  await db.teams.delete({ where: { id: "c" } });
  return { kv, db, events };
}

type Inferred = Awaited<ReturnType<typeof open>>["db"];
type Generated = ReturnType<typeof repositoriesOf>;
type Call = [string, (db: Inferred) => unknown, (db: Generated) => unknown];

/** Makes each call in both APIs, and expects the same results and the same numbers of reads. */
async function expectSame(calls: readonly Call[]) {
  const inferred = await open();
  const generated = await open();
  try {
    const repositories = repositoriesOf(generated.db);
    const run = async (call: () => unknown, events: QueryEvent[]) => {
      events.length = 0;
      const result = await Promise.resolve()
        .then(call)
        .catch(({ code, message }: { code: unknown; message: unknown }) => ({ code, message }));
      return { result, reads: events.reduce((sum, event) => sum + event.reads, 0) };
    };
    for (const [name, one, other] of calls) {
      const expected = await run(() => one(inferred.db), inferred.events);
      const actual = await run(() => other(repositories), generated.events);
      expect(hideTimes(actual), name).toEqual(hideTimes(expected));
    }
  } finally {
    await inferred.kv.close();
    await generated.kv.close();
  }
}

/** The two databases have deleted their rows at different times. */
function hideTimes(value: unknown): unknown {
  if (value instanceof Date) return "a time";
  if (Array.isArray(value)) return value.map(hideTimes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, hideTimes(of)]));
}

const c = { id: "c" };
const later = () => new Date(Date.now() + 60_000);

it("rows that are marked as deleted are hidden, read, restored and purged as in the inferred API", async () => {
  await expectSame([
    [
      "a deleted row",
      (db) => db.teams.findUnique({ where: c }),
      ({ teams }) => teams.findById("c"),
    ],
    [
      "a deleted row, read",
      (db) => db.teams.findUnique({ where: c, withDeleted: true, select: { name: true } }),
      ({ teams }) => teams.select({ name: true }).findById("c", { withDeleted: true }),
    ],
    [
      "a deleted row with its relations",
      (db) =>
        db.teams.findUniqueOrThrow({ where: c, withDeleted: true, include: { players: true } }),
      ({ teams }) => teams.include({ players: true }).findByIdOrThrow("c", { withDeleted: true }),
    ],
    [
      "rows by keys",
      async (db) => (await db.teams.scan({ withDeleted: true })).items,
      ({ teams }) => teams.findEachById(["a", "b", "c"], { withDeleted: true }),
    ],
    [
      "scan",
      (db) => db.teams.scan({ withDeleted: true, orderBy: { id: "desc" } }),
      ({ teams }) => teams.scan({ withDeleted: true, order: "desc" }),
    ],
    [
      "a range of keys",
      (db) =>
        db.teams.findMany({
          where: { id: { gte: "b" } },
          orderBy: { id: "asc" },
          withDeleted: true,
        }),
      ({ teams }) => teams.listById({ gte: "b" }, { withDeleted: true }),
    ],
    [
      "the first of a range of keys",
      async (db) =>
        (await db.teams.findMany({ where: { id: { gte: "c" } }, take: 1, withDeleted: true }))
          .items[0],
      ({ teams }) => teams.listById({ gte: "c" }, { withDeleted: true }).first(),
    ],
    [
      "restore",
      (db) => db.teams.restore({ where: c, select: { name: true } }),
      ({ teams }) => teams.select({ name: true }).restore("c"),
    ],
    ["restored", (db) => db.teams.scan({}), ({ teams }) => teams.scan()],
    [
      "purge of a row that is not marked",
      (db) => db.teams.purge({ where: c }),
      ({ teams }) => teams.purge("c"),
    ],
    [
      "delete",
      (db) => db.teams.delete({ where: { name: "Team c" } }),
      ({ teams }) => teams.deleteByName("Team c"),
    ],
    [
      "restore of another version",
      (db) => db.teams.restore({ where: c, ifVersion: "0".repeat(20) }),
      ({ teams }) => teams.restore("c", { ifVersion: "0".repeat(20) }),
    ],
    [
      "restore of what was deleted together",
      (db) => db.teams.restore({ where: c, cascade: true }),
      ({ teams }) => teams.restore("c", { cascade: true }),
    ],
    ["its players", (db) => db.players.scan({}), ({ players }) => players.scan()],
    ["delete, again", (db) => db.teams.delete({ where: c }), ({ teams }) => teams.delete("c")],
    ["purge", (db) => db.teams.purge({ where: c }), ({ teams }) => teams.purge("c")],
    [
      "purged",
      (db) => db.teams.scan({ withDeleted: true }),
      ({ teams }) => teams.scan({ withDeleted: true }),
    ],
    [
      "create and delete",
      async (db) => {
        await db.teams.create({ data: { id: "d", name: "D" } });
        await db.teams.delete({ where: { id: "d" } });
      },
      async ({ teams }) => {
        await teams.create({ id: "d", name: "D" });
        await teams.delete("d");
      },
    ],
    [
      "purge before a time at which nothing was deleted",
      (db) => db.teams.purge({ before: new Date(0) }),
      ({ teams }) => teams.purgeDeletedBefore(new Date(0)),
    ],
    [
      "purge before a time",
      (db) => db.teams.purge({ before: later() }),
      ({ teams }) => teams.purgeDeletedBefore(later()),
    ],
    [
      "restore of a row that was purged",
      (db) => db.teams.restore({ where: { id: "d" } }),
      ({ teams }) => teams.restore("d"),
    ],
  ]);
});

it("ranks and skipped rows are the same as in the inferred API", async () => {
  await expectSame([
    [
      "rank in the index",
      (db) => db.players.rank({ where: { id: "p4" }, index: "byTeam" }),
      ({ players }) => players.rankByTeam("p4"),
    ],
    [
      "rank within a team, from the end",
      (db) =>
        db.players.rank({ where: { id: "p4" }, index: "byTeam", by: ["teamId"], order: "desc" }),
      ({ players }) => players.rankByTeam("p4", { by: ["teamId"], order: "desc" }),
    ],
    [
      "rank of a row that does not exist",
      (db) => db.players.rank({ where: { id: "p99" }, index: "byTeam" }),
      ({ players }) => players.rankByTeam("p99"),
    ],
    [
      "skip",
      (db) =>
        db.players.findMany({
          where: { teamId: "a" },
          orderBy: { score: "desc" },
          skip: 2,
          take: 2,
        }),
      ({ players }) => players.listByTeam({ teamId: "a" }, { order: "desc", skip: 2, take: 2 }),
    ],
    [
      "the first row after skipped ones",
      async (db) =>
        (await db.players.findMany({ where: { teamId: "a" }, skip: 3, take: 1 })).items[0],
      ({ players }) => players.listByTeam({ teamId: "a" }, { skip: 3 }).first(),
    ],
    [
      "explain with skip",
      (db) => db.players.explain({ where: { teamId: "a" }, skip: 3 }),
      ({ players }) => players.listByTeam({ teamId: "a" }, { skip: 3 }).explain(),
    ],
  ]);
});

describe("a generated repository", () => {
  it("refuses the first row if there is none after skipped ones", async () => {
    const { kv, db } = await open();
    try {
      const { players } = repositoriesOf(db);
      const list = players.listByTeam({ teamId: "a" }, { skip: 5 });
      expect(await list.first()).toBeNull();
      await expect(list.firstOrThrow()).rejects.toMatchObject({ code: "KW_ROW_NOT_FOUND" });
    } finally {
      await kv.close();
    }
  });

  it("explains a list with deleted rows", async () => {
    const { kv, db } = await open();
    try {
      const list = repositoriesOf(db).teams.listById({ gte: "a" }, { withDeleted: true });
      expect(await list.explain()).toMatchObject({ index: "primaryKey" });
    } finally {
      await kv.close();
    }
  });

  it("has only the methods and options that its model supports", () => {
    const misuse = ({ teams, players }: Generated) => [
      // @ts-expect-error: players have no softDelete.
      players.restore("p1"),
      // @ts-expect-error: the same.
      players.purgeDeletedBefore(new Date()),
      // @ts-expect-error: the same.
      players.findById("p1", { withDeleted: true }),
      // @ts-expect-error: indexes leave deleted rows out.
      teams.listByName("Team a", { withDeleted: true }),
      // @ts-expect-error: a stream has no deleted rows.
      teams.watchById("a", { withDeleted: true }),
      // @ts-expect-error: the index is not ranked.
      teams.rankByName("a"),
      // @ts-expect-error: the same.
      teams.listByName("Team a", { skip: 1 }),
      // @ts-expect-error: the index begins with teamId.
      players.rankByTeam("p1", { by: ["score"] }),
    ];
    expect(misuse).toBeTypeOf("function");
  });
});
