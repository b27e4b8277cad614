import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  desc,
  migrate,
} from "../src/index.js";
import { kvWith } from "../src/state/context/kv/kv-with.js";
import { blogModels } from "./blog-models.js";
import { denoKv, interferingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectReferencesToHold } from "./verify-references.js";

let kv: EmbeddedKv;
let db: Database<typeof blogModels>;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: blogModels });
});
afterEach(() => kv.close());

const post = { id: "p", authorId: "a", title: "" };

describe("a write", () => {
  it("is refused where it refers to a row that is not there", async () => {
    expect(await rejection(db.posts.create({ data: post }))).toMatchObject({
      code: "KW_REFERENCE_MISSING",
      model: "posts",
      operation: "create",
      relation: "author",
      fields: ["authorId"],
      target: "users",
      targetId: "a",
    });
    await db.users.create({ data: { id: "a", name: "Ada" } });
    await db.posts.create({ data: post });
    const update = db.posts.update({ where: { id: "p" }, data: { authorId: "b" } });
    expect(await rejection(update)).toMatchObject({ code: "KW_REFERENCE_MISSING", targetId: "b" });
    const upsert = db.posts.upsert({
      where: { id: "q" },
      create: { ...post, id: "q", authorId: "nobody" },
      update: {},
    });
    expect(await rejection(upsert)).toMatchObject({ targetId: "nobody" });
    const many = await db.posts.createMany({ data: [post, { ...post, id: "r", authorId: "c" }] });
    expect(many.count).toBe(0);
    expect(await db.posts.count()).toBe(1);
    await expectReferencesToHold(kv, blogModels);
  });

  it("may leave a reference out, and refer to the row itself", async () => {
    await db.users.create({ data: { id: "a", name: "Ada", bossId: "a" } });
    await db.users.create({ data: { id: "b", name: "Bob", bossId: null } });
    await db.users.create({ data: { id: "c", name: "Cyd" } });
    await db.users.update({ where: { id: "b" }, data: { bossId: "b" } });
    expect((await db.users.findUnique({ where: { id: "b" } }))?.bossId).toBe("b");
    await db.users.delete({ where: { id: "b" } });
    await expectReferencesToHold(kv, blogModels);
  });

  it("does not look at references that it leaves as they are", async () => {
    await kv.set(["posts", "p"], { ...post, rank: 0 });
    await db.posts.update({ where: { id: "p" }, data: { title: "Written by hand" } });
    expect((await db.posts.findUnique({ where: { id: "p" } }))?.title).toBe("Written by hand");
  });

  it("refers to one row by two relations", async () => {
    const Match = defineModel({
      name: "matches",
      schema: z.object({ id: z.string(), home: z.string(), guest: z.string() }),
      primaryKey: "id",
      indexes: { byHome: { key: "home" }, byGuest: { key: "guest" } },
      relations: {
        homeUser: belongsTo("users", "home", { onDelete: "cascade" }),
        guestUser: belongsTo("users", "guest", { onDelete: "restrict" }),
      },
    });
    const models = { ...blogModels, matches: Match };
    const own = await createDatabase({ kv, models });
    await own.users.create({ data: { id: "a", name: "Ada" } });
    await own.matches.create({ data: { id: "m", home: "a", guest: "a" } });
    expect(await rejection(own.users.delete({ where: { id: "a" } }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
      model: "users",
      id: "a",
      by: { model: "matches", relation: "guestUser", id: "m" },
    });
  });

  it("of a transaction may refer to a row that the same transaction has created", async () => {
    await db.transaction(async (tx) => {
      await tx.users.create({ data: { id: "a", name: "Ada" } });
      await tx.posts.create({ data: post });
    });
    const gone = db.transaction(async (tx) => {
      await tx.users.delete({ where: { id: "a" } });
      await tx.posts.create({ data: { ...post, id: "q" } });
    });
    expect(await rejection(gone)).toMatchObject({ code: "KW_REFERENCE_MISSING" });
    expect(await db.posts.count()).toBe(1);
    await db.transaction(async (tx) => {
      await tx.posts.create({ data: { ...post, id: "q" } });
      await tx.users.delete({ where: { id: "a" } });
    });
    expect(await db.posts.count()).toBe(0);
    await expectReferencesToHold(kv, blogModels);
  });

  it("is refused where the row it refers to goes before its commit", async () => {
    await db.users.create({ data: { id: "a", name: "Ada" } });
    const racing = interferingKv(kv, async () => {
      await db.users.delete({ where: { id: "a" } }).catch(() => undefined);
    });
    const writer = await createDatabase({ kv: racing, models: blogModels });
    expect(await rejection(writer.posts.create({ data: post }))).toMatchObject({
      code: "KW_REFERENCE_MISSING",
    });
    await expectReferencesToHold(kv, blogModels);
  });

  it("is in nobody's way who refers to the same row", async () => {
    await db.users.create({ data: { id: "a", name: "Ada" } });
    let commits = 0;
    const counting = interferingKv(kv, async () => {
      commits++;
    });
    const writer = await createDatabase({ kv: counting, models: blogModels });
    const ids = Array.from({ length: 50 }, (_, i) => `p${i}`);
    await Promise.all(ids.map((id) => writer.posts.create({ data: { ...post, id } })));
    expect(commits).toBe(50);
  });
});

describe("a delete", () => {
  beforeEach(async () => {
    await db.users.create({ data: { id: "a", name: "Ada" } });
  });

  it("notices a reference that is made after it has looked for some", async () => {
    let isFirst = true;
    const racing = interferingKv(kv, async () => {
      if (isFirst) await db.posts.create({ data: post });
      isFirst = false;
    });
    const deleter = await createDatabase({ kv: racing, models: blogModels });
    await deleter.users.delete({ where: { id: "a" } });
    expect(await db.posts.count()).toBe(0);
    await expectReferencesToHold(kv, blogModels);
  });

  it.each([
    ["in one commit", (on: Kv) => on],
    ["in steps", denoKv],
  ])("notices who moves to where it has looked already, %s", async (_name, limited) => {
    const Note = defineModel({
      name: "notes",
      schema: z.object({ id: z.string(), userId: z.string(), at: z.number() }),
      primaryKey: "id",
      indexes: { byUser: { key: ["userId", desc("at")] } },
      relations: { user: belongsTo("users", "userId", { onDelete: "cascade" }) },
    });
    const models = { ...blogModels, notes: Note };
    const own = await createDatabase({ kv, models });
    const count = 200;
    await own.notes.createMany({
      data: Array.from({ length: count }, (_, i) => ({ id: `n${i}`, userId: "a", at: i })),
    });
    let deletes = 0;
    const deleter = await createDatabase({
      kv: limited(kv),
      models,
      hooks: {
        notes: {
          beforeDelete: async () => {
            if (++deletes !== count / 4) return;
            // The last of the index becomes the first of it: the delete is behind that.
            await own.notes.update({ where: { id: "n0" }, data: { at: count } });
          },
        },
      },
    });
    await deleter.users.delete({ where: { id: "a" } });
    expect(await own.notes.count()).toBe(0);
    expect(await own.users.count()).toBe(0);
    await expectReferencesToHold(kv, models);
  });

  it("is not in its own way where it moves who refers to the row", async () => {
    const Note = defineModel({
      name: "notes",
      schema: z.object({
        id: z.string(),
        editorId: z.string().nullable(),
        userId: z.string(),
        at: z.number(),
      }),
      primaryKey: "id",
      indexes: { byEditor: { key: "editorId" }, byUser: { key: ["userId", "at"] } },
      relations: {
        editor: belongsTo("users", "editorId", { onDelete: "setNull" }),
        user: belongsTo("users", "userId", { onDelete: "cascade" }),
      },
    });
    const models = { ...blogModels, notes: Note };
    let now = 1000;
    const hooks = { notes: { beforeUpdate: () => ({ at: ++now, editorId: null }) } };
    const own = await createDatabase({ kv, models, hooks });
    // More than one commit takes, so that the last step has the row and what moves who refers to
    // it.
    await own.posts.createMany({
      data: Array.from({ length: 1100 }, (_, i) => ({ id: `p${i}`, authorId: "a", title: "" })),
    });
    await own.notes.create({ data: { id: "n", userId: "a", editorId: "a", at: 0 } });
    await own.users.delete({ where: { id: "a" } });
    expect(await own.notes.count()).toBe(0);
    await expectReferencesToHold(kv, models);
  });

  it("is refused when one is made that forbids it, after it has looked for some", async () => {
    await db.posts.create({ data: post });
    await db.tags.create({ data: { id: "t" } });
    let isFirst = true;
    const racing = interferingKv(kv, async () => {
      if (isFirst) await db.postTags.create({ data: { postId: "p", tagId: "t" } });
      isFirst = false;
    });
    const deleter = await createDatabase({ kv: racing, models: blogModels });
    expect(await rejection(deleter.tags.delete({ where: { id: "t" } }))).toMatchObject({
      code: "KW_ROW_REFERENCED",
      by: { model: "post_tags", relation: "tag", id: ["p", "t"] },
    });
    expect(await db.tags.count()).toBe(1);
  });

  it("leaves alone who moves to another row before its commit", async () => {
    await db.users.create({ data: { id: "b", name: "Bob" } });
    await db.posts.create({ data: post });
    await db.comments.create({ data: { id: "c", postId: "p", authorId: "a" } });
    let isFirst = true;
    const racing = interferingKv(kv, async () => {
      if (isFirst) await db.posts.update({ where: { id: "p" }, data: { authorId: "b" } });
      isFirst = false;
    });
    const deleter = await createDatabase({ kv: racing, models: blogModels });
    await deleter.users.delete({ where: { id: "a" } });
    expect((await db.posts.findUnique({ where: { id: "p" } }))?.authorId).toBe("b");
    // What refers to the post has not gone with it; nor does it refer to the user any more.
    expect(await db.comments.findUnique({ where: { id: "c" } })).toEqual({
      id: "c",
      postId: "p",
      text: "",
    });
    await expectReferencesToHold(kv, blogModels);
  });
});

it.each([
  ["posts", { authorId: "b" }],
  ["comments", { authorId: "b", postId: "q" }],
] as const)(
  "a delete does not believe the index of %s, of which a row has moved",
  async (model, data) => {
    await db.users.create({ data: { id: "a", name: "Ada" } });
    await db.users.create({ data: { id: "b", name: "Bob" } });
    await db.posts.create({ data: post });
    await db.posts.create({ data: { ...post, id: "q", authorId: "b" } });
    await db.comments.create({ data: { id: "c", postId: "p", authorId: "a" } });
    let hasMoved = false;
    const racing = interferingKv(
      kv,
      async () => undefined,
      async ([table, id]) => {
        if (table !== model || hasMoved) return;
        hasMoved = true;
        // The entry has been read, the row is about to be.
        if (model === "posts") await db.posts.update({ where: { id: String(id) }, data });
        else await db.comments.update({ where: { id: String(id) }, data });
      },
    );
    const deleter = await createDatabase({ kv: racing, models: blogModels });
    await deleter.users.delete({ where: { id: "a" } });
    expect(hasMoved).toBe(true);
    const left = await db.comments.findUnique({ where: { id: "c" } });
    expect(left).toEqual({ id: "c", postId: "p", text: "", ...(model === "comments" && data) });
    await expectReferencesToHold(kv, blogModels);
  },
);

/** One thing that one of several programs does. */
type Step =
  | { readonly do: "create" | "delete"; readonly model: "users" | "posts" | "tags"; id: string }
  | { readonly do: "comment" | "move" | "tag" | "untag"; readonly id: string; to: string };

const ids = fc.constantFrom("1", "2", "3");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom("create" as const, "delete" as const),
    model: fc.constantFrom("users" as const, "posts" as const, "tags" as const),
    id: ids,
  }),
  fc.record({
    do: fc.constantFrom("comment" as const, "move" as const, "tag" as const, "untag" as const),
    id: ids,
    to: ids,
  }),
);

async function run(on: typeof db, each: Step, n: string): Promise<void> {
  const { id } = each;
  const where = { id };
  switch (each.do) {
    case "create":
      if (each.model === "posts") await on.posts.create({ data: { id, authorId: id, title: n } });
      else if (each.model === "users") await on.users.create({ data: { id, name: n } });
      else await on.tags.create({ data: { id } });
      return;
    case "delete":
      if (each.model === "posts") await on.posts.delete({ where });
      else if (each.model === "users") await on.users.delete({ where });
      else await on.tags.delete({ where });
      return;
    case "comment":
      await on.comments.create({ data: { id: `c${n}`, postId: id, authorId: each.to } });
      return;
    case "move":
      await on.posts.update({ where, data: { authorId: each.to } });
      return;
    case "tag":
      await on.postTags.create({ data: { postId: id, tagId: each.to } });
      return;
    default:
      await on.postTags.delete({ where: { postId: id, tagId: each.to } });
  }
}

const expected = [
  "KW_REFERENCE_MISSING",
  "KW_ROW_REFERENCED",
  "KW_ROW_NOT_FOUND",
  "KW_UNIQUE_CONSTRAINT",
];

it("no reference dangles, whatever several programs create and delete at once", async () => {
  const programs = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), {
    minLength: 2,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(programs, fc.scheduler(), async (all, scheduler) => {
      const own = await openKv();
      try {
        const unexpected: unknown[] = [];
        const running = all.map(async (steps, program) => {
          // Each commit waits for its turn, which is any. Some delete in one commit, and some in
          // steps.
          const limited = program % 2 === 0 ? denoKv(own) : own;
          const slow = interferingKv(limited, () => scheduler.schedule(Promise.resolve()));
          const on = await createDatabase({ kv: slow, models: blogModels });
          for (const [i, each] of steps.entries()) {
            await run(on, each, `${program}-${i}`).catch((error) => {
              if (!expected.includes(error.code)) unexpected.push(error);
            });
          }
        });
        await scheduler.waitFor(Promise.all(running));
        expect(unexpected).toEqual([]);
        await expectReferencesToHold(own, blogModels);
      } finally {
        await own.close();
      }
    }),
    { numRuns: 150 },
  );
});

it("a delete that first records its model is refused if another program moves a reference", async () => {
  const schema = z.object({ id: z.int(), parent: z.int().nullable().default(null) });
  const relations = { up: belongsTo("nodes", "parent", { onDelete: "restrict" }) };
  const definition = { name: "nodes", schema, primaryKey: "id", relations } as const;
  const byParent = { byParent: { key: "parent" } } as const;
  const Before = defineModel({ ...definition, indexes: byParent });
  // Its first write records that the model is live.
  const Live = defineModel({ ...definition, indexes: byParent, live: true });
  const Other = defineModel({ ...definition, indexes: { byNode: { key: ["parent", "id"] } } });
  const before = await createDatabase({ kv, models: { nodes: Before } });
  await before.nodes.create({ data: { id: 1 } });
  const other = await createDatabase({ kv, models: { nodes: Other } });
  let isMoved = false;
  const interrupted = kvWith(kv, {
    async get(key) {
      if (!isMoved && key[1] === "refs") {
        isMoved = true;
        expect((await migrate(other, { accept: true })).status).toBe("done");
        await other.nodes.create({ data: { id: 2, parent: 1 } });
      }
      return await kv.get<never>(key);
    },
  });
  const db = await createDatabase({ kv: interrupted, models: { nodes: Live } });
  await expect(db.nodes.delete({ where: { id: 1 } })).rejects.toMatchObject({
    code: "KW_INDEX_NOT_READY",
  });
  expect(isMoved).toBe(true);
  expect((await other.nodes.scan()).items).toHaveLength(2);
});
