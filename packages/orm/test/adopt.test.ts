import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { adopt } from "../src/change/adopt/adopt.js";
import { guideLayout } from "../src/change/adopt/source/guide-layout.js";
import type { SourceLayout } from "../src/change/adopt/source/source-layout.js";
import { LeaseLostError } from "../src/errors/migration-errors.js";
import { belongsTo, createDatabase, defineModel } from "../src/index.js";
import { leaseKey, takeLease } from "../src/state/run/lease.js";
import { Crash, crashAtEachCommit, crashingKv, denoKv } from "./faulty-kv.js";
import { readOnlyKv } from "./read-only-kv.js";
import { entriesOf, rejection, User, users } from "./user-model.js";

let old: EmbeddedKv;
let kv: EmbeddedKv;

beforeEach(async () => {
  old = await openKv();
  kv = await openKv();
});

afterEach(async () => {
  await old.close();
  await kv.close();
});

const idOf = (n: number) => `01H76YTWK3YBV020S6MP6${String(n).padStart(5, "0")}`;

/** A user as a program writes it that follows the guide. */
async function writeByHand(source: Kv, n: number, user: object = {}, expireIn?: number) {
  const row = {
    id: idOf(n),
    name: `U${n}`,
    email: `u${n}@example.com`,
    favoriteColor: "red",
    ...user,
  };
  const options = expireIn === undefined ? {} : { expireIn };
  await source
    .atomic()
    .set(["users", row.id], row, options)
    .set(["users_by_email", row.email.toLowerCase()], row.id, options)
    .set(["users_by_favorite_color", row.favoriteColor, row.id], row.id, options)
    .commit();
  return row;
}

const usersDb = (target: Kv = kv) => createDatabase({ kv: target, models: { users: User } });

/** Nothing of Keywright's own is left of an adoption. */
async function leftovers(target: Kv = kv): Promise<unknown[]> {
  const left: unknown[] = [];
  for await (const { key } of target.list({ prefix: ["__keywright"] })) {
    if (key[1] === "adopting" || key[1] === "lease") left.push(key);
  }
  return left;
}

/** The documents of a model that the next run is to try again. */
async function toRetry(model = "users", target: Kv = kv): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { value } of target.list({
    prefix: ["__keywright", "adopting", model, "again"],
  })) {
    found.push((value as unknown[]).at(-1));
  }
  return found;
}

describe("data written by hand as the guide shows", () => {
  it("becomes the same rows and entries, and the source is only read", async () => {
    for (let n = 0; n < 250; n++) await writeByHand(old, n);
    const progress: number[] = [];
    const result = await adopt(await usersDb(), {
      from: readOnlyKv(old),
      models: { users: guideLayout(User) },
      onProgress: ({ phase, done }) => phase === "rows" && progress.push(done),
    });
    expect(result).toEqual({
      status: "done",
      models: [
        {
          model: "users",
          status: "done",
          rows: 250,
          adopted: 250,
          skipped: 0,
          deleted: 0,
          failedCount: 0,
          failed: [],
          brokenCount: 0,
          brokenEntries: [],
          leftBehind: [],
        },
      ],
    });
    expect(await entriesOf(kv)).toEqual(await entriesOf(old));
    expect(progress).toEqual([100, 200, 250]);
    expect(await leftovers()).toEqual([]);
  });

  it("is read and written within Deno KV's limits", async () => {
    for (let n = 0; n < 30; n++) await writeByHand(old, n);
    const db = await usersDb(denoKv(kv));
    const models = { users: guideLayout(User) };
    const result = await adopt(db, { from: denoKv(old), models });
    expect(result.models[0]).toMatchObject({ adopted: 30, brokenCount: 0 });
    expect(await entriesOf(kv)).toEqual(await entriesOf(old));
    expect((await adopt(db, { from: denoKv(old), models })).models[0]).toMatchObject({
      skipped: 30,
    });
  });

  it("reports every index entry that is missing, leads nowhere, or belongs to another state of its row", async () => {
    const [a, b, c] = [
      await writeByHand(old, 1),
      await writeByHand(old, 2),
      await writeByHand(old, 3),
    ];
    await old.delete(["users_by_favorite_color", "red", a.id]);
    await old.set(["users_by_email", b.email], a.id);
    await old.set(["users_by_email", "gone@example.com"], idOf(9));
    await old.set(["users_by_email", "broken@example.com"], { not: "a pointer" });
    await old.set(["users_by_favorite_color", "green", c.id], c.id);
    const { models } = await adopt(await usersDb(), {
      from: readOnlyKv(old),
      models: { users: guideLayout(User) },
    });
    expect(models[0]?.brokenCount).toBe(6);
    expect(models[0]?.brokenEntries).toEqual([
      { kind: "missing", key: ["users_by_favorite_color", "red", a.id], id: a.id },
      { kind: "missing", key: ["users_by_email", b.email], id: b.id },
      { kind: "dangling", key: ["users_by_email", "broken@example.com"], id: undefined },
      { kind: "dangling", key: ["users_by_email", "gone@example.com"], id: idOf(9) },
      { kind: "mismatched", key: ["users_by_email", b.email], id: a.id },
      { kind: "mismatched", key: ["users_by_favorite_color", "green", c.id], id: c.id },
    ]);
    // They are the source's: the rows get entries of their own.
    const db = await usersDb();
    expect(await db.users.findUnique({ where: { email: b.email } })).toEqual(b);
  });

  it("reports copies that are not as their rows are, where the source holds copies", async () => {
    const Copied = defineModel({
      ...User,
      indexes: { byEmail: { key: "email", unique: true, store: "copy" } },
    });
    const row = { id: idOf(1), name: "Now", email: "u@example.com", favoriteColor: "red" };
    await old.set(["users", row.id], row);
    await old.set(["users_by_email", row.email], { ...row, name: "Then" });
    const { models } = await adopt(await usersDb(), {
      from: old,
      models: { users: guideLayout(Copied) },
    });
    expect(models[0]).toMatchObject({
      adopted: 1,
      brokenEntries: [{ kind: "mismatched", key: ["users_by_email", row.email], id: row.id }],
    });
  });

  it("is only looked at where it is the model's own place, and what does not fit is reported", async () => {
    await writeByHand(kv, 1);
    await writeByHand(kv, 2, { favoriteColor: 7 as unknown as string });
    await kv.set(["users_by_email", "gone@example.com"], idOf(9));
    const before = await entriesOf(kv);
    const result = await adopt(await usersDb(), { from: kv, models: { users: guideLayout(User) } });
    expect(result.status).toBe("failed-rows");
    expect(result.models[0]).toMatchObject({ rows: 2, adopted: 0, skipped: 1, brokenCount: 1 });
    expect(result.models[0]?.failed).toMatchObject([
      { id: idOf(2), code: "KW_STORED_ROW_INVALID", issues: [{ path: ["favoriteColor"] }] },
    ]);
    expect(await entriesOf(kv)).toEqual(before);
  });
});

describe("documents that do not fit", () => {
  it("are reported with what is wrong, and keep no other from being adopted", async () => {
    await writeByHand(old, 1, { email: "no address" });
    await writeByHand(old, 2, { email: "same@example.com" });
    await old.set(["users", idOf(3)], { id: idOf(4), ...users.ada });
    await old.set(["users", idOf(5)], "text");
    await old.set(["users", "no ulid"], { ...users.bob });
    await old.set(["users", idOf(6)], { ...users.cyd, email: "SAME@example.com" });
    const result = await adopt(await usersDb(), {
      from: old,
      models: { users: guideLayout(User) },
    });
    expect(result.status).toBe("failed-rows");
    const [model] = result.models;
    expect(model).toMatchObject({ rows: 6, adopted: 1, failedCount: 5 });
    const failed = [...(model?.failed ?? [])].sort((a, b) =>
      String(a.id) < String(b.id) ? -1 : 1,
    );
    expect(failed).toMatchObject([
      {
        id: idOf(1),
        code: "KW_ROW_INVALID",
        issues: [{ path: ["email"], code: "invalid_format" }],
      },
      { id: idOf(3), reason: expect.stringContaining("differs from the id in its key") },
      { id: idOf(5), reason: expect.stringContaining("not an object") },
      { id: idOf(6), code: "KW_UNIQUE_CONSTRAINT", reason: expect.stringContaining(idOf(2)) },
      { id: "no ulid", code: "KW_ROW_INVALID", issues: [{ path: ["id"] }] },
    ]);
    expect(await toRetry()).toEqual([1, 3, 5, 6].map(idOf).concat("no ulid"));
  });

  it("are taken by the next run when they are put right", async () => {
    await writeByHand(old, 1, { email: "no address" });
    await writeByHand(old, 2);
    const db = await usersDb();
    const options = { from: old, models: { users: guideLayout(User) } };
    expect((await adopt(db, options)).status).toBe("failed-rows");
    await writeByHand(old, 1);
    const { status, models } = await adopt(db, options);
    expect(status).toBe("done");
    expect(models[0]).toMatchObject({ rows: 2, adopted: 2, skipped: 0, failedCount: 0 });
    expect(await leftovers()).toEqual([]);
  });

  it("alone are looked at by the next run, for the rows of others are the program's by then", async () => {
    for (const n of [1, 2]) await writeByHand(old, n);
    await writeByHand(old, 3, { email: "no address" });
    await writeByHand(old, 4, { email: "no address" });
    const Other = defineModel({ ...User, prefix: "others" });
    await old.set(["others", idOf(7)], { id: idOf(7), ...users.ada });
    const models = { users: User, others: defineModel({ ...Other, name: "others" }) };
    const db = await createDatabase({ kv, models });
    const options = {
      from: old,
      models: { users: guideLayout(User), others: guideLayout(Other) },
    };
    const first = await adopt(db, options);
    expect(first).toMatchObject({
      status: "failed-rows",
      models: [{ adopted: 2, failedCount: 2 }, { adopted: 1 }],
    });
    expect(await toRetry()).toEqual([idOf(3), idOf(4)]);
    await db.users.update({ where: { id: idOf(1) }, data: { name: "Changed" } });
    await db.users.delete({ where: { id: idOf(2) } });
    await db.others.delete({ where: { id: idOf(7) } });
    await writeByHand(old, 3);
    const second = await adopt(db, options);
    expect(second).toMatchObject({
      status: "failed-rows",
      models: [
        { rows: 4, adopted: 3, skipped: 0, failedCount: 1, failed: [{ id: idOf(4) }] },
        { adopted: 1, failedCount: 0 },
      ],
    });
    await old.delete(["users", idOf(4)]);
    const { status } = await adopt(db, options);
    expect(status).toBe("done");
    const names: unknown[] = [];
    for await (const { value } of kv.list<{ name: string }>({ prefix: ["users"] })) {
      names.push(value.name);
    }
    expect(names).toEqual(["Changed", "U3"]);
    expect((await kv.get(["others", idOf(7)])).value).toBeNull();
    expect(await leftovers()).toEqual([]);
  });

  it("are tried again all, however many, and by a run that continues where one was stopped", async () => {
    for (let n = 0; n < 250; n++) {
      await writeByHand(old, n, n === 0 ? {} : { email: `no address ${n}` });
    }
    const db = await usersDb();
    const options = { from: old, models: { users: guideLayout(User) } };
    expect((await adopt(db, options)).models[0]).toMatchObject({ adopted: 1, failedCount: 249 });
    for (let n = 1; n < 249; n++) await writeByHand(old, n);
    const stopping = new AbortController();
    const stopped = await adopt(db, {
      ...options,
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    expect(stopped.models[0]).toMatchObject({ status: "stopped", adopted: 101 });
    await db.users.delete({ where: { id: idOf(50) } });
    expect((await adopt(db, options)).models[0]).toMatchObject({
      rows: 250,
      adopted: 249,
      skipped: 0,
      failedCount: 1,
    });
    expect(await db.users.findUnique({ where: { id: idOf(50) } })).toBeNull();
  });

  it("are counted all, and the first hundred reported", async () => {
    for (let n = 0; n < 130; n++) await old.set(["users", idOf(n)], n);
    const { models } = await adopt(await usersDb(), {
      from: old,
      models: { users: guideLayout(User) },
    });
    expect(models[0]?.failedCount).toBe(130);
    expect(models[0]?.failed.map(({ id }) => id)).toEqual(
      Array.from({ length: 100 }, (_, n) => idOf(n)),
    );
  });
});

it("never overwrites a row: another one under the same key is reported, the same one skipped", async () => {
  const row = await writeByHand(old, 1);
  await writeByHand(old, 2);
  const db = await usersDb();
  await db.users.create({ data: { ...row, name: "Other" } });
  await db.users.create({ data: { ...row, id: idOf(2), name: "U2", email: "u2@example.com" } });
  const { models } = await adopt(db, { from: old, models: { users: guideLayout(User) } });
  expect(models[0]).toMatchObject({ adopted: 0, skipped: 1 });
  expect(models[0]?.failed).toMatchObject([
    { id: idOf(1), reason: expect.stringContaining("Another row") },
  ]);
  expect(await db.users.findUnique({ where: { id: idOf(1) } })).toMatchObject({ name: "Other" });
});

it("creates a row that the program deleted again only if it is asked to", async () => {
  await writeByHand(old, 1);
  await writeByHand(old, 2);
  const db = await usersDb();
  const options = { from: old, models: { users: guideLayout(User) } };
  expect((await adopt(db, options)).models[0]).toMatchObject({ adopted: 2 });
  await db.users.delete({ where: { id: idOf(1) } });
  await db.users.update({ where: { id: idOf(2) }, data: { name: "changed" } });
  await writeByHand(old, 3);
  expect(await adopt(db, { ...options, dryRun: true })).toMatchObject({
    models: [{ rows: 3, adopted: 1, skipped: 1, deleted: 1 }],
  });
  expect(await adopt(db, options)).toMatchObject({
    status: "done",
    models: [{ rows: 3, adopted: 1, skipped: 1, deleted: 1, failedCount: 0 }],
  });
  expect(await db.users.findUnique({ where: { id: idOf(1) } })).toBeNull();
  const restored = await adopt(db, { ...options, restoreDeleted: true });
  expect(restored.models[0]).toMatchObject({ adopted: 1, skipped: 2, deleted: 0 });
  expect(await db.users.findUnique({ where: { id: idOf(1) } })).toMatchObject({ name: "U1" });
});

it("fails for a document that has changed since its row was adopted", async () => {
  await writeByHand(old, 1);
  const db = await usersDb();
  const options = { from: old, models: { users: guideLayout(User) } };
  await adopt(db, options);
  await writeByHand(old, 1, { name: "new" });
  expect((await adopt(db, options)).models[0]).toMatchObject({ failedCount: 1, skipped: 0 });
});

it("takes a row for the same where the schema fills in what the document lacks", async () => {
  const Stamped = defineModel({
    ...User,
    schema: User.schema.extend({ seen: z.date().default(() => new Date()) }),
  });
  await writeByHand(old, 1);
  const db = await createDatabase({ kv, models: { users: Stamped } });
  const options = { from: old, models: { users: guideLayout(User) } };
  await adopt(db, options);
  await db.users.update({ where: { id: idOf(1) }, data: { seen: new Date(0) } });
  expect((await adopt(db, options)).models[0]).toMatchObject({ adopted: 0, skipped: 1 });
  expect((await db.users.findUnique({ where: { id: idOf(1) } }))?.seen).toEqual(new Date(0));
});

it("makes of a document what `map` says, with the id where that leaves it out", async () => {
  await writeByHand(old, 1);
  const db = await usersDb();
  await adopt(db, {
    from: old,
    models: {
      users: {
        layout: guideLayout(User),
        map: ({ name, email }: { name: string; email: string }, id) => ({
          name: `${name} ${String(id).length}`,
          email,
          favoriteColor: "blue",
        }),
      },
    },
  });
  expect(await db.users.scan()).toMatchObject({
    items: [{ id: idOf(1), name: "U1 26", favoriteColor: "blue" }],
  });
});

it("knows models by the names that the program has for them", async () => {
  await writeByHand(old, 1);
  await old.set(["users_of_old", idOf(2)], { id: idOf(2), ...users.ada });
  const Old = defineModel({ ...User, name: "users_of_old", prefix: "users_of_old", indexes: {} });
  const db = await createDatabase({ kv, models: { former: Old, people: User } });
  const { models } = await adopt(db, { from: old, models: { people: guideLayout(User) } });
  expect(models).toMatchObject([{ model: "users", adopted: 1 }]);
  expect(
    (await adopt(db, { from: old, models: { former: guideLayout(Old) } })).models,
  ).toMatchObject([{ model: "users_of_old", adopted: 1 }]);
});

it("calls no hooks", async () => {
  await writeByHand(old, 1);
  const called: string[] = [];
  const db = await createDatabase({
    kv,
    models: { users: User },
    hooks: {
      users: {
        beforeCreate: (data) => {
          called.push("before");
          return data;
        },
        afterCreate: () => void called.push("after"),
      },
    },
  });
  await adopt(db, { from: old, models: { users: guideLayout(User) } });
  expect(called).toEqual([]);
});

it("has rows expire when their documents do", async () => {
  await writeByHand(old, 1, {}, 3_600_000);
  await writeByHand(old, 2);
  await adopt(await usersDb(), { from: old, models: { users: guideLayout(User) } });
  const { expireAt: expected } = (await old.get(["users", idOf(1)])) as { expireAt?: number };
  for (const key of [
    ["users", idOf(1)],
    ["users_by_email", "u1@example.com"],
  ]) {
    const { expireAt } = (await kv.get(key)) as { expireAt?: number };
    // A commit takes its time, and what is left is told in whole milliseconds.
    expect(Math.abs((expireAt ?? 0) - (expected ?? 0))).toBeLessThan(60_000);
  }
  expect(await kv.get(["users", idOf(2)])).not.toHaveProperty("expireAt");
});

it("counts rows until their documents expire", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    await writeByHand(old, 1, {}, 3_600_000);
    await writeByHand(old, 2);
    const Counted = defineModel({ ...User, count: true });
    const db = await createDatabase({ kv, models: { users: Counted } });
    await adopt(db, { from: old, models: { users: guideLayout(Counted) } });
    expect(await db.users.count()).toBe(2);
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await db.users.count()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

describe("a dry run", () => {
  it("says what would become of the documents and writes nothing", async () => {
    await writeByHand(old, 1);
    await writeByHand(old, 2, { email: "no address" });
    await writeByHand(old, 3);
    const db = await usersDb();
    await db.users.create({ data: await writeByHand(old, 3) });
    const versions = async () =>
      (
        await kv.getMany([
          ["users", idOf(3)],
          ["__keywright", "lease"],
        ])
      ).map((e) => e.versionstamp);
    const before = [await entriesOf(kv), await versions()];
    const result = await adopt(db, {
      from: old,
      models: { users: guideLayout(User) },
      dryRun: true,
    });
    expect(result.status).toBe("failed-rows");
    expect(result.models[0]).toMatchObject({ rows: 3, adopted: 1, skipped: 1, failedCount: 1 });
    expect([await entriesOf(kv), await versions()]).toEqual(before);
    expect(await leftovers()).toEqual([]);
  });
});

describe("a run that does not come to its end", () => {
  it("continues after its last batch after the signal", async () => {
    for (let n = 0; n < 250; n++) await writeByHand(old, n, n === 5 ? { email: "no address" } : {});
    await old.set(["users_by_email", "gone@example.com"], idOf(999));
    const db = await usersDb();
    const options = { from: old, models: { users: guideLayout(User) } };
    const stopping = new AbortController();
    const first = await adopt(db, {
      ...options,
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    expect(first).toMatchObject({
      status: "stopped",
      models: [{ status: "stopped", rows: 100, adopted: 99, failedCount: 1 }],
    });
    const done: number[] = [];
    const second = await adopt(db, { ...options, onProgress: ({ done: n }) => done.push(n) });
    expect(done[0]).toBe(200);
    expect(second).toMatchObject({
      status: "failed-rows",
      models: [{ rows: 250, adopted: 249, skipped: 0, failedCount: 1, brokenCount: 1 }],
    });
    expect(second.models[0]?.failed).toMatchObject([{ id: idOf(5) }]);
    expect(await toRetry()).toEqual([idOf(5)]);
  });

  it("starts anew where the next one is from another place", async () => {
    for (let n = 0; n < 150; n++) await writeByHand(old, n);
    const Other = defineModel({ ...User, prefix: "members", indexes: {} });
    await old.set(["members", idOf(500)], { id: idOf(500), ...users.ada });
    const db = await usersDb();
    const stopping = new AbortController();
    await adopt(db, {
      from: old,
      models: { users: guideLayout(User) },
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    const { models } = await adopt(db, { from: old, models: { users: guideLayout(Other) } });
    expect(models[0]).toMatchObject({ rows: 1, adopted: 1 });
  });

  it.each([["none of its documents"], ["the document where it was, and not the first"]])(
    "starts anew where the next one is from another database with %s",
    async (which) => {
      for (let n = 100; n < 250; n++) await writeByHand(old, n);
      const other = await openKv();
      try {
        const first = which.startsWith("none") ? 0 : 199;
        for (let n = first; n < first + 30; n++) await writeByHand(other, n, { name: "other" });
        const [db, models] = [await usersDb(), { users: guideLayout(User) }];
        const stopping = new AbortController();
        const stopped = await adopt(db, {
          from: old,
          models,
          signal: stopping.signal,
          onProgress: () => stopping.abort(),
        });
        expect(stopped.models[0]).toMatchObject({ adopted: 100 });
        const found = (await adopt(db, { from: other, models })).models[0];
        expect(found?.rows).toBe(30);
        expect((found?.adopted ?? 0) + (found?.failedCount ?? 0)).toBe(30);
        expect((await adopt(db, { from: old, models })).models[0]?.rows).toBe(150);
      } finally {
        await other.close();
      }
    },
  );

  it("loses nothing and writes nothing twice, at whichever commit it dies", async () => {
    for (let n = 0; n < 23; n++) await writeByHand(old, n, n === 3 ? { email: "no address" } : {});
    const source = await entriesOf(old);
    const isGood = ({ key, value }: { key: unknown; value: unknown }) =>
      ![(key as string[])[1], (key as string[])[2], value].includes(idOf(3));
    // Values that have to be made out are read twenty at a time, so that there are two batches.
    const layout: SourceLayout = { ...guideLayout(User), readValue: ({ value }) => value };
    const options = { from: readOnlyKv(old), models: { users: layout } };
    let died = true;
    for (let at = 1; died; at++) {
      died = false;
      for (const moment of ["before", "after"] as const) {
        const target = await openKv();
        try {
          await usersDb(target);
          const crashing = await usersDb(crashingKv(target, at, moment));
          try {
            await adopt(crashing, { ...options });
          } catch (error) {
            if (!(error instanceof Crash)) throw error;
            died = true;
          }
          const { status, models } = await adopt(await usersDb(target), options);
          expect(status).toBe("failed-rows");
          expect(models[0]).toMatchObject({ rows: 23, failedCount: 1 });
          expect((models[0]?.adopted ?? 0) + (models[0]?.skipped ?? 0)).toBe(22);
          expect(await entriesOf(target)).toEqual(source.filter(isGood));
          expect(await toRetry("users", target)).toEqual([idOf(3)]);
        } finally {
          await target.close();
        }
      }
      expect(at).toBeLessThan(60);
    }
  });

  it("never creates a row again that the program deleted, nor fails for one that it updated, wherever it was killed", async () => {
    for (let n = 0; n < 45; n++) await writeByHand(old, n);
    const source = readOnlyKv(old);
    for (const limited of [false, true]) {
      const crashes = await crashAtEachCommit(async (at) => {
        let died = false;
        for (const moment of ["before", "after"] as const) {
          const target = await openKv();
          try {
            const options = { from: source, models: { users: guideLayout(User) } };
            const kvOf = (base: Kv) => (limited ? denoKv(base) : base);
            const db = await usersDb(kvOf(target));
            try {
              await adopt(await usersDb(kvOf(crashingKv(target, at, moment))), options);
            } catch (error) {
              if (!(error instanceof Crash)) throw error;
              died = true;
            }
            const { items } = await db.users.findMany({
              where: { favoriteColor: "red" },
              take: 100,
            });
            for (const [i, { id }] of items.entries()) {
              if (i % 2 === 0) await db.users.delete({ where: { id: id } });
              else await db.users.update({ where: { id: id }, data: { name: "changed" } });
            }
            const [kept, before] = [items.filter((_, i) => i % 2 === 1), items.length];
            const result = await adopt(db, options);
            expect(result).toMatchObject({
              status: "done",
              models: [{ rows: 45, failedCount: 0 }],
            });
            const changed = (
              await db.users.findMany({ where: { favoriteColor: "red" }, take: 100 })
            ).items.filter(({ name }) => name === "changed");
            expect(changed.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
            expect(
              (await db.users.findMany({ where: { favoriteColor: "red" }, take: 100 })).items,
            ).toHaveLength(45 - (before - kept.length));
          } finally {
            await target.close();
          }
        }
        return died;
      });
      expect(crashes).toBeGreaterThan(limited ? 6 : 4);
    }
  });

  it("writes no row after another runner has taken over", async () => {
    for (let n = 0; n < 3; n++) await writeByHand(old, n);
    const db = await usersDb();
    const running = adopt(db, {
      from: old,
      models: {
        users: {
          layout: guideLayout(User),
          map: async (user) => {
            const { value } = await kv.get<object>(leaseKey);
            await kv.set(leaseKey, { ...value, runner: "another" });
            return user as typeof users.ada & { id: string };
          },
        },
      },
    });
    expect(await rejection(running)).toBeInstanceOf(LeaseLostError);
    expect((await db.users.findMany({ where: { favoriteColor: "red" }, take: 10 })).items).toEqual(
      [],
    );
    await kv.delete(leaseKey);
  });

  it("leaves where another runner works, and waits for it where it may", async () => {
    await writeByHand(old, 1);
    const db = await usersDb();
    const lease = await takeLease(kv, { wait: false });
    if (typeof lease === "string") throw new Error(lease);
    const options = { from: old, models: { users: guideLayout(User) } };
    expect(await adopt(db, { ...options, wait: false })).toEqual({ status: "busy", models: [] });
    const waiting = adopt(db, options);
    await lease.release();
    expect((await waiting).status).toBe("done");
  });
});

describe("rows that refer to others", () => {
  const Team = defineModel({
    name: "teams",
    schema: z.object({ id: z.string(), parentId: z.string().nullable() }),
    primaryKey: "id",
    indexes: { byParent: { key: "parentId" } },
    relations: { parent: belongsTo("teams", "parentId") },
  });
  const Member = defineModel({
    name: "members",
    schema: z.object({ id: z.string(), teamId: z.string() }),
    primaryKey: "id",
    indexes: { byTeam: { key: "teamId" } },
    relations: { team: belongsTo("teams", "teamId") },
  });

  it("are adopted after those, whatever the order of the models and of the documents", async () => {
    // Each team is stored before the one that it is part of, further away than a batch.
    const count = 230;
    const teamId = (n: number) => `t${String(count - n).padStart(4, "0")}`;
    for (let n = 0; n < count; n++) {
      const parentId = n % 100 === 0 ? (n === 0 ? null : teamId(n - 100)) : teamId(0);
      await old.set(["teams", teamId(n)], { id: teamId(n), parentId });
    }
    await old.set(["teams", "z"], { id: "z", parentId: "nobody" });
    await old.set(["members", "m"], { id: "m", teamId: teamId(200) });
    const db = await createDatabase({ kv, models: { members: Member, teams: Team } });
    const bare = (name: string) =>
      guideLayout(defineModel({ ...Team, name, prefix: name, indexes: {}, relations: {} }));
    const { status, models } = await adopt(db, {
      from: old,
      models: { members: bare("members"), teams: bare("teams") },
    });
    expect(status).toBe("failed-rows");
    expect(models).toMatchObject([
      { model: "teams", rows: count + 1, adopted: count, skipped: 0, failedCount: 1 },
      { model: "members", rows: 1, adopted: 1, failedCount: 0 },
    ]);
    expect(models[0]?.failed).toMatchObject([{ id: "z", code: "KW_REFERENCE_MISSING" }]);
    expect(await toRetry("teams")).toEqual(["z"]);
  });
});

describe("options", () => {
  const layout = guideLayout(User);

  it("are refused where they name no model, no database, or nothing that can be done", async () => {
    const db = await usersDb();
    const unknown = { posts: layout } as unknown as { users: SourceLayout };
    expect(await rejection(adopt(db, { from: old, models: unknown }))).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "models.posts",
    });
    expect(
      await rejection(adopt(db, { from: undefined as unknown as Kv, models: { users: layout } })),
    ).toMatchObject({ argument: "from" });
    const map = (user: object) => user as { name: string; email: string; favoriteColor: string };
    expect(
      await rejection(adopt(db, { from: kv, models: { users: { layout, map } } })),
    ).toMatchObject({ argument: "models.users.map" });
  });

  it("are refused where the model would write among the source's data, however that was opened", async () => {
    const Elsewhere = defineModel({ ...User, prefix: "users_by_email", indexes: {} });
    const db = await createDatabase({ kv, models: { users: Elsewhere } });
    await writeByHand(kv, 1);
    const before = await entriesOf(kv);
    for (const from of [kv, readOnlyKv(kv)]) {
      expect(await rejection(adopt(db, { from, models: { users: layout } }))).toMatchObject({
        code: "KW_ARGUMENT_INVALID",
        argument: "models",
      });
    }
    expect(await entriesOf(kv)).toEqual(before);
    expect(await leftovers()).toEqual([]);
  });

  it("leave out of account entries that are no documents", async () => {
    await writeByHand(old, 1);
    await old.set(["users", idOf(1), "avatar"], new Uint8Array(3));
    const { models } = await adopt(await usersDb(), { from: old, models: { users: layout } });
    expect(models[0]).toMatchObject({ rows: 1, adopted: 1, failedCount: 0 });
  });
});
