import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineModel,
  hasMany,
  migrate,
  PrimaryKeyDiffersError,
  ReferenceMissingError,
  StaleSchemaError,
} from "../src/index.js";
import { findDanglingReferences } from "../src/migrate.js";
import { Crash, crashAtEachCommit, crashingKv, denoKv, interferingKv } from "./faulty-kv.js";

const user = {
  name: "users",
  schema: z.object({ id: z.string(), email: z.string() }),
} as const;
const post = {
  name: "posts",
  schema: z.object({
    id: z.string(),
    authorId: z.string(),
    authorEmail: z.string().optional(),
  }),
  primaryKey: "id",
  indexes: { byAuthorId: { key: "authorId" }, byAuthorEmail: { key: "authorEmail" } },
} as const;
const onDelete = { onDelete: "cascade" } as const;
const before = {
  users: defineModel({
    ...user,
    primaryKey: "id",
    relations: { posts: hasMany("posts", "authorId") },
  }),
  posts: defineModel({ ...post, relations: { author: belongsTo("users", "authorId", onDelete) } }),
};
const after = {
  users: defineModel({
    ...user,
    primaryKey: "email",
    relations: { posts: hasMany("posts", "authorEmail") },
  }),
  posts: defineModel({
    ...post,
    relations: { author: belongsTo("users", "authorEmail", onDelete) },
  }),
};
const openBefore = (kv: Kv) => createDatabase({ kv, models: before });
const openAfter = (kv: Kv) => createDatabase({ kv, models: after });

async function withPosts(test: (kv: Kv) => Promise<void>): Promise<void> {
  const kv = await openKv();
  try {
    const db = await openBefore(kv);
    for (const n of [1, 2, 3]) {
      await db.users.create({ data: { id: `u${n}`, email: `e${n}` } });
      await db.posts.create({ data: { id: `p${n}`, authorId: `u${n}`, authorEmail: `e${n}` } });
    }
    await test(kv);
  } finally {
    await kv.close();
  }
}

async function expectMoved(kv: Kv): Promise<void> {
  const db = await openAfter(kv);
  expect(await db.posts.findUnique({ where: { id: "p2" }, include: { author: true } })).toEqual({
    id: "p2",
    authorId: "u2",
    authorEmail: "e2",
    author: { id: "u2", email: "e2" },
  });
  const missing = db.posts.create({ data: { id: "p9", authorId: "", authorEmail: "e9" } });
  await expect(missing).rejects.toThrow(ReferenceMissingError);
  await db.users.delete({ where: { email: "e3" } });
  expect((await db.posts.scan()).items.map(({ id }) => id)).toEqual(["p1", "p2"]);
  expect((await findDanglingReferences(db, { model: "posts" })).items).toEqual([]);
}

describe("references to a model whose primary key changes", () => {
  it("are checked by the new key, and enforced from then on", async () => {
    await withPosts(async (kv) => {
      const old = await openBefore(kv);
      const { status, dangling } = await migrate(await openAfter(kv), { accept: true });
      expect({ status, dangling }).toEqual({ status: "done", dangling: [] });
      await expect(old.users.delete({ where: { id: "u1" } })).rejects.toThrow(
        PrimaryKeyDiffersError,
      );
      await expect(
        old.posts.findUnique({ where: { id: "p1" }, include: { author: true } }),
      ).rejects.toThrow(PrimaryKeyDiffersError);
      await expect(
        old.posts.create({ data: { id: "p4", authorId: "u1", authorEmail: "e1" } }),
      ).rejects.toThrow(StaleSchemaError);
      await expectMoved(kv);
      const records: unknown[] = [];
      for await (const { key } of kv.list({ prefix: ["__keywright", "refs"] })) records.push(key);
      expect(records).toEqual([]);
    });
  });

  it("prevent the change if one leads to no row, and programs can continue to write", async () => {
    await withPosts(async (kv) => {
      const old = await openBefore(kv);
      const where = { id: "p2" };
      await old.posts.update({ where, data: { authorEmail: "nobody" } });
      const db = await openAfter(kv);
      const { status, dangling } = await migrate(db, { accept: true });
      expect(status).toBe("key-unchanged");
      expect(dangling).toEqual([
        {
          model: "posts",
          id: "p2",
          relation: "author",
          fields: ["authorEmail"],
          target: "users",
          targetId: "nobody",
        },
      ]);
      await old.posts.update({ where, data: { authorEmail: "e2" } });
      expect((await migrate(db, { accept: true })).status).toBe("done");
      await expectMoved(kv);
    });
  });

  it("are right after a crash after any commit", async () => {
    await crashAtEachCommit(async (at) => {
      let hasCrashed = false;
      await withPosts(async (kv) => {
        await migrate(await openAfter(crashingKv(kv, at, "after")), { accept: true }).catch(
          (error: unknown) => {
            if (!(error instanceof Crash)) throw error;
            hasCrashed = true;
          },
        );
        expect((await migrate(await openAfter(kv), { accept: true })).status).toBe("done");
        await expectMoved(kv);
      });
      return hasCrashed;
    });
  });

  it("never dangle, whatever old programs write until the switch", async () => {
    await withPosts(async (kv) => {
      const old = await openBefore(kv);
      let n = 10;
      let refused = 0;
      const write = async () => {
        const [id, email] = [`u${n}`, `e${n}`];
        try {
          await old.users.create({ data: { id, email } });
          await old.posts.create({ data: { id: `p${n}`, authorId: id, authorEmail: email } });
          if (n % 3 === 0) await old.users.delete({ where: { id } });
        } catch (error) {
          const isRefusal =
            error instanceof PrimaryKeyDiffersError || error instanceof StaleSchemaError;
          if (!isRefusal) throw error;
          refused++;
        }
        n++;
      };
      const db = await openAfter(interferingKv(kv, write));
      expect((await migrate(db, { accept: true })).status).toBe("done");
      expect(refused).toBeGreaterThan(0);
      expect(n).toBeGreaterThan(20);
      const now = await openAfter(kv);
      expect((await findDanglingReferences(now, { model: "posts" })).items).toEqual([]);
      for (const row of (await now.posts.scan()).items) {
        expect(await now.users.exists({ where: { email: row.authorEmail ?? "" } })).toBe(true);
      }
    });
  });

  it("need the models that hold them", async () => {
    await withPosts(async (kv) => {
      const { users } = after;
      const { relations: _, ...alone } = users;
      const User = defineModel({ ...user, primaryKey: alone.primaryKey });
      const db = await createDatabase({ kv, models: { users: User } });
      const { status, plan } = await migrate(db, { accept: true });
      expect(status).toBe("blocked");
      expect(plan.steps[0]?.blocked).toContain("Rows of posts refer to users");
    });
  });

  it("of rows to each other are refused", async () => {
    await withPosts(async (kv) => {
      const node = {
        name: "nodes",
        schema: z.object({ id: z.string(), code: z.string(), parent: z.string().optional() }),
        indexes: { byParent: { key: "parent" } },
        relations: { up: belongsTo("nodes", "parent") },
      } as const;
      await createDatabase({ kv, models: { nodes: defineModel({ ...node, primaryKey: "id" }) } });
      const now = defineModel({ ...node, primaryKey: "code" });
      const { plan } = await migrate(await createDatabase({ kv, models: { nodes: now } }));
      expect(plan.steps[0]?.blocked).toContain("refer to each other");
    });
  });

  it("wait for deletes that are not complete", async () => {
    await withPosts(async (kv) => {
      const limited = denoKv(kv);
      const old = await openBefore(limited);
      for (let n = 10; n < 30; n++) {
        await old.posts.create({ data: { id: `p${n}`, authorId: "u1", authorEmail: "e1" } });
      }
      const dying = await openBefore(crashingKv(limited, 2, "after"));
      await expect(dying.users.delete({ where: { id: "u1" } })).rejects.toThrow(Crash);
      const { plan } = await migrate(await openAfter(limited), { accept: true });
      expect(plan.steps[0]?.blocked).toContain("resumeDeletes");
      expect(plan.needsMigration).toBe(true);
    });
  });
});
