import { type EmbeddedKv, type Kv, type KvKey, type KvU64, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate, verifyIndexes } from "../src/index.js";
import { Crash, crashingKv, denoKv, interferingKv, lateKv } from "./faulty-kv.js";

const Plain = defineModel({
  name: "sessions",
  schema: z.object({
    id: z.string(),
    user: z.string(),
    tags: z.array(z.string()).default([]),
  }),
  primaryKey: "id",
  indexes: { byUser: { key: "user" }, byTag: { key: "tags", each: true } },
});
const Session = defineModel({
  ...Plain,
  count: true,
  indexes: {
    byUser: { key: "user", count: true },
    byTag: { key: "tags", each: true, count: true },
  },
});
const start = 1_800_000_000_000;
const users = ["ada", "bob"];
const tags = ["x", "y"];

let kv: EmbeddedKv;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  kv = await openKv();
});
afterEach(async () => {
  await kv.close();
  vi.useRealTimers();
});

const passes = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const open = (on: Kv = kv) => createDatabase({ kv: on, models: { sessions: Session } });
const openPlain = (on: Kv = kv) => createDatabase({ kv: on, models: { sessions: Plain } });
type Db = Awaited<ReturnType<typeof open>>;

/** Everything that counters tell. */
async function counts(db: Pick<Db, "sessions">): Promise<Record<string, number>> {
  const found: Record<string, number> = { all: await db.sessions.count() };
  for (const user of users) found[user] = await db.sessions.count({ where: { user } });
  for (const tag of tags) found[tag] = await db.sessions.count({ where: { tags: { has: tag } } });
  found.users = await db.sessions.count({ where: { user: { in: users } } });
  return found;
}

/** The same by a scan of the rows that the database returns. */
async function scanned(on: Kv = kv): Promise<Record<string, number>> {
  const found: Record<string, number> = { all: 0, users: 0 };
  for (const name of [...users, ...tags]) found[name] = 0;
  for await (const { value } of on.list<{ user: string; tags: string[] }>({
    prefix: ["sessions"],
  })) {
    for (const name of ["all", "users", value.user, ...new Set(value.tags)]) {
      found[name] = (found[name] ?? 0) + 1;
    }
  }
  return found;
}

async function stored(kind: string): Promise<KvKey[]> {
  const keys: KvKey[] = [];
  for await (const { key } of kv.list({ prefix: ["__keywright", kind] })) keys.push(key);
  return keys;
}

async function counters(): Promise<Record<string, bigint>> {
  const found: Record<string, bigint> = {};
  for await (const { key, value } of kv.list<KvU64>({ prefix: ["__keywright", "count"] })) {
    if (value.value !== 0n) found[key.slice(2).join("/")] = value.value;
  }
  return found;
}

const session = (id: string, user = "ada") => ({ id, user, tags: ["x"] });

describe.each([
  ["that tells when entries expire", (on: Kv) => on],
  ["that does not", denoKv],
  ["that returns rows after they expired", (on: Kv) => denoKv(lateKv(on))],
] as const)("on a database %s", (name, wrap) => {
  const isLate = name.includes("after");

  it("a row is counted until it expires", async () => {
    const db = await open(wrap(kv));
    await db.sessions.create({ data: session("a"), expireIn: 1000 });
    await db.sessions.create({ data: session("b", "bob") });
    expect(await counts(db)).toMatchObject({ all: 2, ada: 1, bob: 1, x: 2, users: 2 });
    passes(999);
    expect(await db.sessions.count()).toBe(2);
    passes(1);
    expect(await counts(db)).toEqual(await scanned());
    expect(await db.sessions.count()).toBe(isLate ? 2 : 1);
  });

  it("counts agree with the rows after any writes and at any time", async () => {
    const id = fc.constantFrom("a", "b", "c", "d");
    const data = {
      user: fc.constantFrom(...users),
      tags: fc.array(fc.constantFrom(...tags), { maxLength: 3 }),
    };
    const expireIn = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined });
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constantFrom("create", "update", "upsert", "delete", "twice", "many"),
          id,
          ...data,
          expireIn,
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("pass"), by: fc.nat(30) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen") }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const own = await openKv();
        try {
          let db = await open(wrap(own));
          for (const step of steps) {
            if (step.kind === "pass" && "by" in step) passes(step.by);
            else if (!("id" in step)) db = await open(wrap(own));
            else {
              const { kind, id, user, tags } = step;
              const row = { id, user, tags };
              const where = { id };
              const options = step.expireIn === undefined ? {} : { expireIn: step.expireIn };
              const write = (on: Pick<Db, "sessions">) =>
                on.sessions.upsert({ where, create: row, update: { user, tags }, ...options });
              const writing =
                kind === "create"
                  ? db.sessions.create({ data: row, ...options })
                  : kind === "update"
                    ? db.sessions.update({ where, data: { user, tags }, ...options })
                    : kind === "upsert"
                      ? write(db)
                      : kind === "delete"
                        ? db.sessions.delete({ where })
                        : kind === "many"
                          ? db.sessions.deleteMany({ where: { user } })
                          : db.transaction(async (tx) => {
                              await write(tx);
                              await tx.sessions.delete({ where });
                              await write(tx);
                              await tx.sessions.count();
                            });
              await writing.catch((error: { code?: string }) => {
                expect(["KW_UNIQUE_CONSTRAINT", "KW_ROW_NOT_FOUND"]).toContain(error.code);
              });
            }
            expect(await counts(db)).toEqual(await scanned(own));
          }
          passes(100);
          expect(await counts(db)).toEqual(await scanned(own));
        } finally {
          await own.close();
        }
      }),
      { numRuns: 60 },
    );
  });
});
