import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, hasMany } from "../src/index.js";
import { Crash, crashAtEachCommit, crashingKv } from "./faulty-kv.js";
import { codeOf, random, Tenant } from "./tenant-table.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

/** How many random calls are compared with plain arrays, in databases of up to 10,000 each. */
const operations = Number(process.env.KEYWRIGHT_SCOPE_OPERATIONS ?? 1500);
const batch = 10_000;
const batches = Array.from({ length: Math.ceil(operations / batch) }, (_, i) => ({
  seed: 7 + i,
  calls: Math.min(batch, operations - i * batch),
}));

const deletedAt = z.date().nullable().default(null);
const time = z.date().default(() => new Date());
const User = defineModel({
  name: "users",
  schema: z.object({
    tenantId: z.string(),
    id: z.string(),
    email: z.string(),
    score: z.int(),
    deletedAt,
    createdAt: time,
    updatedAt: time,
  }),
  primaryKey: ["tenantId", "id"],
  softDelete: "deletedAt",
  timestamps: true,
  count: true,
  indexes: {
    byEmail: { key: ["tenantId", "email"], unique: true },
    byScore: { key: ["tenantId", "score"], sum: ["score"] },
  },
  relations: { posts: hasMany("posts", ["tenantId", "authorId"]) },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    tenantId: z.string(),
    authorId: z.string(),
    reviewerId: z.string().nullable().default(null),
    deletedAt,
  }),
  primaryKey: "id",
  softDelete: "deletedAt",
  indexes: {
    byAuthor: { key: ["tenantId", "authorId"], count: true },
    byReviewer: { key: ["tenantId", "reviewerId"] },
  },
  relations: {
    author: belongsTo("users", ["tenantId", "authorId"], { onDelete: "cascade" }),
    reviewer: belongsTo("users", ["tenantId", "reviewerId"], { onDelete: "setNull" }),
  },
});
const models = { users: User, posts: Post };

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** Refuses a row of another tenant, wherever it is in a result. */
function assertOwn(tenantId: string, result: unknown): void {
  if (typeof result !== "object" || result === null || result instanceof Date) return;
  const row = result as Readonly<Record<string, unknown>>;
  if (row.tenantId !== undefined && row.tenantId !== tenantId)
    throw new Error(`${tenantId} has read ${JSON.stringify(row)}`);
  for (const value of Object.values(row)) assertOwn(tenantId, value);
}

it.each(batches)(
  "two tenants with soft delete, timestamps and relations never read a foreign row ($calls calls, seed $seed)",
  {
    timeout: 1_800_000,
  },
  async ({ seed, calls: count }) => {
    const db = await createDatabase({ kv, models });
    const next = random(seed);
    const pick = (limit: number) => Math.floor(next() * limit);
    const all = new Map<string, Tenant>();
    const taken = (id: string) => [...all.values()].some((each) => each.posts.has(id));
    const tenants = ["acme", "zeta"].map((tenantId) => {
      const plain = new Tenant(tenantId, taken);
      all.set(tenantId, plain);
      return { tenantId, plain, scope: db.scope({ tenantId }) };
    });
    for (let i = 0; i < count; i++) {
      const { tenantId, plain, scope } = tenants[pick(2)]!;
      const id = `u${pick(6)}`;
      const postId = `p${pick(10)}`;
      const email = `e${pick(5)}`;
      const score = pick(4);
      const authorId = `u${pick(6)}`;
      const where = { id };
      const ofPost = { id: postId };
      const far = new Date(Date.now() + 60_000);
      const { users, posts } = scope;
      const calls: readonly [() => Promise<unknown>, () => unknown][] = [
        [
          () => users.create({ data: { id, email, score } }),
          () => plain.createUser(id, email, score),
        ],
        [
          () => users.update({ where, data: { email, score } }),
          () => plain.updateUser(id, { email, score }),
        ],
        [
          () => users.upsert({ where, create: { id, email, score }, update: { score } }),
          () => plain.upsertUser(id, email, score),
        ],
        [() => users.delete({ where }), () => plain.deleteUser(id)],
        [() => users.delete({ where: { email } }), () => plain.deleteUser(plain.idOfEmail(email))],
        [() => users.restore({ where }), () => plain.restoreUser(id)],
        [() => users.purge({ where }), () => plain.purgeUser(id)],
        [
          async () => (await users.deleteMany({ where: { score } })).count,
          () => plain.usersWith(score).map((one) => plain.deleteUser(one)).length,
        ],
        [
          async () => (await users.updateMany({ where: { score }, data: { score: 3 } })).count,
          () => plain.usersWith(score).map((one) => plain.updateUser(one, { score: 3 })).length,
        ],
        [async () => (await posts.purge({ before: far })).count, () => plain.purgePosts()],
        [
          () => posts.create({ data: { id: postId, authorId, reviewerId: null } }),
          () => plain.createPost(postId, authorId),
        ],
        [
          () => posts.create({ data: { id: postId, authorId } }),
          () => plain.createPost(postId, authorId),
        ],
        [
          () => posts.update({ where: ofPost, data: { authorId } }),
          () => plain.movePost(postId, authorId),
        ],
        [() => posts.delete({ where: ofPost }), () => plain.deletePost(postId)],
        [() => posts.restore({ where: ofPost }), () => plain.restorePost(postId)],
        [
          () =>
            scope.transaction(async (tx) => {
              await tx.users.update({ where, data: { score } });
              return await tx.posts.create({ data: { id: postId, authorId } });
            }),
          () =>
            plain.inTransaction(() => [
              plain.updateUser(id, { score }),
              plain.createPost(postId, authorId),
            ]),
        ],
      ];
      const read = async () => {
        const found = await users.findUnique({
          where,
          include: { posts: { include: { author: true } }, _count: { posts: true } },
        });
        return [
          found && {
            score: found.score,
            posts: found.posts.map((one) => one.id),
            count: found._count.posts,
          },
          (await users.findUnique({ where: { email } }))?.id ?? null,
          (await posts.findUnique({ where: ofPost }))?.authorId ?? null,
          (await users.findMany({ where: { score: { gte: score } } })).items
            .map((one) => one.id)
            .sort(),
          (await users.scan()).items.map((one) => one.id),
          (await users.scan({ withDeleted: true })).items.length,
          await users.count(),
          await posts.count({ where: { authorId } }),
          (await users.aggregate({ where: { score }, sum: { score: true } })).sum.score ?? 0,
        ];
      };
      if (pick(3) === 0) {
        const result = await read();
        expect(result, `read ${i}`).toEqual(plain.read(id, email, postId, score, authorId));
        const rows = await Promise.all([
          users.scan({ withDeleted: true }),
          users.findMany({ orderBy: { score: "desc" } }),
          users.findUnique({ where, include: { posts: { include: { author: true } } } }),
          posts
            .findUnique({ where: ofPost, withDeleted: true, include: { author: true } })
            .catch(codeOf),
          posts.findMany({ index: "byAuthor" }),
        ]);
        assertOwn(tenantId, rows);
        continue;
      }
      const choice = pick(calls.length);
      const [run, expected] = calls[choice]!;
      const result = await run().catch(codeOf);
      assertOwn(tenantId, result);
      const wanted = expected();
      const told = typeof result === "object" ? "ok" : result;
      expect(told, `call ${choice}, operation ${i}`).toEqual(
        typeof wanted === "object" && wanted !== null ? "ok" : wanted,
      );
    }
    await expectIndexesToMatch(kv, User);
    await expectIndexesToMatch(kv, Post);
  },
);

it("concurrent deletes, restores and new references leave no live post without its author", async () => {
  const db = await createDatabase({ kv, models });
  const tenants = ["acme", "zeta"].map((tenantId) => db.scope({ tenantId }));
  for (const { users } of tenants)
    for (const id of ["a", "b"]) await users.create({ data: { id, email: id, score: 1 } });
  const next = random(3);
  const worker = async (own: number) => {
    for (let i = 0; i < 12; i++) {
      const { users, posts } = tenants[Math.floor(next() * 2)]!;
      const where = { id: next() < 0.5 ? "a" : "b" };
      const choice = Math.floor(next() * 4);
      const call =
        choice === 0
          ? users.delete({ where })
          : choice === 1
            ? users.restore({ where })
            : choice === 2
              ? posts.create({ data: { id: `${own}-${i}`, authorId: where.id } })
              : posts.restore({ where: { id: `${own}-${i - 1}` } });
      await (call as Promise<unknown>).catch(codeOf);
    }
  };
  await Promise.all(Array.from({ length: 6 }, (_, own) => worker(own)));
  await expectIndexesToMatch(kv, User);
  await expectIndexesToMatch(kv, Post);
  for await (const post of db.posts.scan()) {
    const { tenantId, authorId } = post;
    expect(await db.users.findUnique({ where: { tenantId, id: authorId } })).not.toBe(null);
  }
});

it("a purge that crashes between its commits is continued by the next", async () => {
  const rows = 4;
  const commits = await crashAtEachCommit(async (at) => {
    const own = await openKv();
    try {
      const setup = (await createDatabase({ kv: own, models })).scope({ tenantId: "acme" });
      for (let i = 0; i <= rows; i++)
        await setup.users.create({ data: { id: `u${i}`, email: `${i}`, score: i } });
      for (let i = 0; i < rows; i++) {
        const reviewerId = `u${i}`;
        await setup.posts.create({ data: { id: `p${i}`, authorId: `u${rows}`, reviewerId } });
        await setup.users.delete({ where: { id: `u${i}` } });
      }
      const before = new Date(Date.now() + 60_000);
      const crashing = crashingKv(own, at, at % 2 === 0 ? "before" : "after");
      let hasCrashed = false;
      try {
        const { users } = (await createDatabase({ kv: crashing, models })).scope({
          tenantId: "acme",
        });
        const { failed } = await users.purge({ before });
        hasCrashed = failed.length > 0;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        hasCrashed = true;
      }
      const db = (await createDatabase({ kv: own, models })).scope({ tenantId: "acme" });
      expect((await db.users.purge({ before })).failed).toEqual([]);
      expect((await db.users.scan({ withDeleted: true })).items.map(({ id }) => id)).toEqual([
        `u${rows}`,
      ]);
      const posts = await db.posts.findMany({ index: "byAuthor" });
      for (const post of posts.items) expect(post.reviewerId).toBe(null);
      await expectIndexesToMatch(own, User);
      await expectIndexesToMatch(own, Post);
      return hasCrashed;
    } finally {
      await own.close();
    }
  });
  expect(commits).toBeGreaterThan(rows);
});
