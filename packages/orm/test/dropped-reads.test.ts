// What a migration drops is complete as long as a program may still read it.
import {
  type AtomicOperation,
  type EmbeddedKv,
  type Kv,
  type KvKey,
  openKv,
} from "@keywright/core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { planMigration, verifyIndexes } from "../src/migrate.js";
import { ModelCatalog } from "../src/state/catalog/model-catalog.js";
import { Crash, crashAtEachCommit, crashingKv } from "./faulty-kv.js";
import { contextOf } from "./migration-run.js";

const schema = z.object({ id: z.string(), team: z.string(), name: z.string(), points: z.int() });
const base = { name: "players", schema, primaryKey: "id" } as const;
const Full = defineModel({
  ...base,
  count: true,
  sum: ["points"],
  indexes: {
    byTeam: { key: "team" },
    byName: { key: "name", unique: true },
    byLowName: { key: "name", normalize: (name: string) => name.toLowerCase() },
    byPoints: { key: ["team", "points"], count: true, sum: ["points"] },
    byRank: { key: "points", ranked: true },
  },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = (model: object = Full, on: Kv = kv) =>
  createDatabase({ kv: on, models: { players: defineModel(model as typeof Full) } });
type Db = Awaited<ReturnType<typeof open>>;

function without(...names: readonly string[]): object {
  const indexes = Object.entries(Full.indexes).filter(([name]) => !names.includes(name));
  return { ...Full, indexes: Object.fromEntries(indexes) };
}

function withIndexes(indexes: object): object {
  return { ...Full, indexes: { ...Full.indexes, ...indexes } };
}

const byTrimmedName = { key: "name", normalize: (name: string) => name.trim() };

/** Models that lack some of this, or of which a program cannot maintain what there was. */
const changes: Readonly<Record<string, object>> = {
  "an index": without("byTeam"),
  "a unique index": without("byName"),
  "an index with a function": without("byLowName"),
  "the function of an index": withIndexes({ byLowName: byTrimmedName }),
  "counters and sums": { ...base, indexes: Full.indexes },
  "counters and sums of an index": withIndexes({ byPoints: { key: ["team", "points"] } }),
  "a counted index": without("byPoints"),
  "a ranked index": without("byRank"),
  "all of it": base,
};

/** Everything that finds all rows, each of which has one point. */
const reads: Readonly<Record<string, (db: Db) => Promise<number | null>>> = {
  index: async ({ players }) => {
    return (await players.findMany({ where: { team: "red" }, index: "byTeam" })).items.length;
  },
  transaction: (db) =>
    db.transaction(async ({ players }) => {
      return (await players.findMany({ where: { team: "red" }, index: "byTeam" })).items.length;
    }),
  unique: async ({ players }) => {
    for (let n = 0; ; n++) if (!(await players.findUnique({ where: { name: `N${n}` } }))) return n;
  },
  function: async ({ players }) => {
    const where = { name: { gte: "" } };
    return (await players.findMany({ where, index: "byLowName" })).items.length;
  },
  count: ({ players }) => players.count(),
  sum: async ({ players }) => (await players.aggregate({ sum: { points: true } })).sum.points,
  "count of a key": ({ players }) => players.count({ where: { team: "red", points: 1 } }),
  "sum of a key": async ({ players }) => {
    const where = { team: "red", points: 1 };
    return (await players.aggregate({ where, sum: { points: true } })).sum.points;
  },
  rank: ({ players }) => players.count({ where: { points: { gt: 0 } }, index: "byRank" }),
};

/** A database that calls these functions before and after each commit. */
function watchedKv(on: Kv, before: () => Promise<unknown>, after: () => Promise<unknown>): Kv {
  const watched = (operation: AtomicOperation) => {
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      await before();
      const result = await commit();
      await after();
      return result;
    };
    return operation;
  };
  return new Proxy(on, {
    get(target, property) {
      if (property === "atomic") return () => watched(target.atomic());
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Creates the row with a number. Returns false if the program may not write. */
async function creates({ players }: Db, n: number): Promise<boolean> {
  try {
    await players.create({ data: { id: `${n}`, team: "red", name: `N${n}`, points: 1 } });
    return true;
  } catch (error) {
    if (!unwritable.includes(codeIn(error))) throw error;
    return false;
  }
}

const unready = ["KW_INDEX_NOT_READY", "KW_INDEX_CHANGED"];
const unwritable = ["KW_STALE_SCHEMA", "KW_INDEX_CHANGED"];

function codeIn(error: unknown): string {
  return (error as { readonly code: string }).code;
}

it.each(Object.entries(changes))(
  "a program that has read the catalog before a commit that drops %s reads all rows or fails",
  async (_, changed) => {
    const old = await open();
    let rows = 5;
    for (let n = 0; n < rows; n++) await creates(old, n);
    const later = await open(changed);
    const written = new Set<number>();
    const after = async () => {
      if (await creates(later, rows)) written.add(rows++);
      const found = await Promise.all(
        Object.entries(reads).map(async ([name, read]) => {
          try {
            return [name, await read(old)];
          } catch (error) {
            if (!unready.includes(codeIn(error))) throw error;
            return [name, rows];
          }
        }),
      );
      expect(found).toEqual(found.map(([name]) => [name, rows]));
    };
    const { catalog } = contextOf(old, "players");
    const runner = await open(
      changed,
      watchedKv(kv, () => catalog.reload(), after),
    );
    expect((await migrate(runner, { accept: true })).status).toBe("done");
    // Programs with the new models write before the end of the migration.
    expect(written.size).toBeGreaterThan(2);
  },
);

it.each([
  ["another run with these models", base],
  ["a run with the models before", Full],
] as const)("a run that is killed at any commit leaves nothing wrong for %s", async (_, next) => {
  const crashes = await crashAtEachCommit(async (at) => {
    await using own = await openKv();
    const old = await open(Full, own);
    await creates(old, 0);
    const crashing = await open(base, crashingKv(own, at, "after"));
    const end = await migrate(crashing, { accept: true }).catch((error: unknown) => error);
    const later = await open(base, own);
    const created = [await creates(later, 1), await creates(old, 2)];
    const db = await open(next, own);
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect((await planMigration(db)).isEmpty).toBe(true);
    expect((await verifyIndexes(db)).status).toBe("clean");
    const rows = created.filter((isCreated) => isCreated).length + 1;
    const keys: KvKey[] = [];
    for await (const { key } of own.list({ prefix: [] })) keys.push(key);
    expect(keys.filter(([place]) => place === "players")).toHaveLength(rows);
    if (next === Full) expect(await db.players.count()).toBe(rows);
    else
      expect(keys.filter(([place, kind]) => /players_|count/.test(`${place} ${kind}`))).toEqual([]);
    return end instanceof Crash;
  });
  expect(crashes).toBeGreaterThan(8);
});

it("a run waits once for the programs that read what it drops from all models", async () => {
  const models = (model: object, count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => {
        const name = `m${n}`;
        const indexes = Object.entries((model as Partial<typeof Full>).indexes ?? {});
        const prefixed = indexes.map(([index, one]) => [index, { ...one, prefix: name + index }]);
        const own = { ...model, name, indexes: Object.fromEntries(prefixed) };
        return [name, defineModel(own as typeof Full)];
      }),
    );
  await createDatabase({ kv, models: models(Full, 3) });
  const grace = vi.spyOn(ModelCatalog.prototype, "readerGraceMs", "get").mockReturnValue(0);
  try {
    const db = await createDatabase({ kv, models: models(base, 3) });
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect(grace).toHaveBeenCalledTimes(1);
  } finally {
    grace.mockRestore();
  }
});
