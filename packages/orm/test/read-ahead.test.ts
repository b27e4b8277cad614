import { type EmbeddedKv, type Kv, type KvKey, type KvListOptions, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDatabase, type MigrateOptions, migrate } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { PageReader } from "../src/state/run/page-reader.js";
import { contextOf, withRun } from "./migration-run.js";
import { LaterUser, User } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const pageRows = 500;

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const openLater = (on: Kv = kv) => createDatabase({ kv: on, models: { users: LaterUser } });

/** Creates rows in three pages. Returns their ids in the order of the rows. */
async function fill(): Promise<string[]> {
  const db = await createDatabase({ kv, models: { users: User } });
  const data = Array.from({ length: 2 * pageRows + 100 }, (_, i) => ({
    ...{ name: `Name ${i}`, email: `a${i}@example.com`, favoriteColor: "green", age: 1 },
  }));
  await db.users.createMany({ data });
  const ids: string[] = [];
  for await (const { key } of kv.list({ prefix: ["users"] })) ids.push(String(key[1]));
  return ids;
}

/** What the calls of a program wait for. */
interface Pauses {
  /** Called when the read of a page of rows begins, with the number of pages before it. */
  readonly beforePage?: (page: number) => void;
  readonly afterPage?: (page: number, keys: readonly KvKey[]) => void;
  readonly beforeCommit?: () => Promise<void>;
}

/** The same database, which calls these functions. */
function pausingKv({ beforePage, afterPage, beforeCommit }: Pauses): Kv {
  let begun = 0;
  return new Proxy(kv, {
    get(target, property) {
      if (property === "list") {
        return (selector: { prefix: readonly unknown[] }, options: KvListOptions) => {
          const list = target.list(selector as never, options);
          // A read of one entry finds out if there are rows.
          if (selector.prefix[0] !== "users" || (options.limit ?? 1) === 1) return list;
          const keys: KvKey[] = [];
          const page = begun++;
          beforePage?.(page);
          const next = list.next.bind(list);
          list.next = async () => {
            const result = await next();
            if (result.done === true) afterPage?.(page, keys);
            else keys.push(result.value.key);
            return result;
          };
          return list;
        };
      }
      if (property === "atomic") {
        return () => {
          const operation = target.atomic();
          const commit = operation.commit.bind(operation);
          operation.commit = async () => {
            await beforeCommit?.();
            return await commit();
          };
          return operation;
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

describe("a backfill reads the next page before it commits the current one", () => {
  const options: MigrateOptions = { count: false, verify: false };

  it.each<[string, (db: Awaited<ReturnType<typeof openLater>>, id: string) => Promise<unknown>]>([
    ["updated", (db, id) => db.users.update({ where: { id }, data: { age: 2, name: "New" } })],
    ["deleted", (db, id) => db.users.delete({ where: { id } })],
    [
      "replaced by another row with its unique value",
      async (db, id) => {
        const row = await db.users.delete({ where: { id } });
        await db.users.create({ data: { name: row.name, email: row.email, favoriteColor: "red" } });
      },
    ],
  ])("and a row of that page may be %s in between", async (_, change) => {
    await fill();
    const writer = await openLater();
    let readSecond: (keys: readonly KvKey[]) => void = () => undefined;
    const secondPage = new Promise<readonly KvKey[]>((resolve) => {
      readSecond = resolve;
    });
    let isFirstRead = false;
    let isChanged = false;
    const paused = pausingKv({
      afterPage: (page, keys) => {
        if (page === 0) isFirstRead = true;
        else readSecond(keys);
      },
      beforeCommit: async () => {
        if (!isFirstRead || isChanged) return;
        isChanged = true;
        const keys = await secondPage;
        await change(writer, String(keys[7]![1]));
      },
    });
    expect((await migrate(await openLater(paused), options)).status).toBe("done");
    expect(isChanged).toBe(true);
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("unless the rows per second are limited", async () => {
    await fill();
    const [reads, readsAtCommits]: [number[], number[]] = [[], []];
    const paused = pausingKv({
      afterPage: (page) => reads.push(page),
      beforeCommit: async () => void readsAtCommits.push(reads.length),
    });
    const db = await openLater(paused);
    const result = await migrate(db, { ...options, rowsPerSecond: 1_000_000 });
    expect(result.status).toBe("done");
    expect(readsAtCommits.filter((count, i) => count !== readsAtCommits[i - 1])).toEqual(
      [0, ...reads].map((_, i) => i),
    );
    await expectIndexesToMatch(kv, LaterUser);
  });

  it("and so does a verification", async () => {
    await fill();
    await migrate(await openLater());
    const events: string[] = [];
    const paused = pausingKv({ beforePage: (page) => events.push(`page ${page} is read`) });
    const onProgress = () => void events.push("a page is done");
    const [verified] = (await verifyIndexes(await openLater(paused), { onProgress })).models;
    expect(verified).toMatchObject({ rows: 1100, entries: 4400, findings: [] });
    expect(events.slice(1, 5)).toEqual([
      "page 0 is read",
      "page 1 is read",
      "a page is done",
      "page 2 is read",
    ]);
  });
});

describe("PageReader", () => {
  it("returns each entry once, in order, with any limits", async () => {
    const ids = await fill();
    const db = await openLater();
    await withRun(kv, async (run) => {
      const pages = new PageReader(contextOf(db, "users"), run);
      const found: unknown[] = [];
      let after: readonly (string | Uint8Array | number | bigint | boolean)[] | null = null;
      for (let page = 0; ; page++) {
        const limit = [500, 200, 300, 1, 50][page % 5]!;
        const { entries, isLast } = await pages.rows(after, limit);
        expect(entries.length).toBeLessThanOrEqual(limit);
        found.push(...entries.map(({ key }) => key[1]));
        after = entries.at(-1)?.key.slice(1) ?? after;
        if (isLast) break;
      }
      expect(found).toEqual(ids);
    });
  });

  it("reads a page again if the caller does not continue after it", async () => {
    const ids = await fill();
    const db = await openLater();
    await withRun(kv, async (run) => {
      const pages = new PageReader(contextOf(db, "users"), run);
      const first = await pages.rows(null, 10);
      await kv.delete(["users", ids[3]!]);
      const again = await pages.rows(null, 10);
      expect(again.entries.map(({ key }) => key[1])).toEqual(
        [...first.entries.map(({ key }) => key[1]), ids[10]].filter((id) => id !== ids[3]),
      );
      await pages.settle();
    });
  });

  it("throws the error of a page when it is asked for the page", async () => {
    await fill();
    const db = await openLater();
    await withRun(kv, async (run) => {
      const context = contextOf(db, "users");
      let reads = 0;
      const failing = Object.create(kv, {
        list: {
          value: (...args: Parameters<Kv["list"]>) => {
            if (++reads === 2) throw new Error("unreachable");
            return kv.list(...args);
          },
        },
      });
      const pages = new PageReader({ ...context, kv: failing }, run);
      const { entries } = await pages.rows(null, 10);
      const after = entries.at(-1)!.key.slice(1);
      await expect(pages.rows(after, 10)).rejects.toThrow("unreachable");
      expect((await pages.rows(after, 10)).entries).toHaveLength(10);
      await pages.settle();
    });
  });
});
