import { type EmbeddedKv, type Kv, type KvListSelector, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  belongsTo,
  createDatabase,
  defineMigration,
  defineModel,
  migrate,
} from "../../src/index.js";
import { verifyIndexes } from "../../src/migrate.js";
import { denoKv } from "../faulty-kv.js";
import { rejection } from "../user-model.js";
import { expectReferencesToHold } from "../verify-references.js";

const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), title: z.string().default("") }),
  primaryKey: "id",
});

const comments = {
  name: "comments",
  schema: z.object({ id: z.string(), postId: z.string().nullable(), at: z.number().default(0) }),
  primaryKey: "id",
} as const;

type Rule = "restrict" | "cascade" | "setNull";

const post = (onDelete: Rule) => ({ post: belongsTo("posts", "postId", { onDelete }) });

const Comment = defineModel({
  ...comments,
  indexes: { byPost: { key: "postId" } },
  relations: post("cascade"),
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const where = { id: "p" };
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `c${i}`, postId: "p", at: i }));

async function keysOf(store: Kv): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list({ prefix: [] })) {
    if (key[1] !== "catalog") keys.push(key.join("/"));
  }
  return keys;
}

/**
 * A database that calls `before` with the number of the list whenever a list of these entries
 * begins to be read.
 */
function listedKv(on: Kv, prefix: string, before: (list: number) => Promise<void>): Kv {
  let lists = 0;
  return new Proxy(on, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (property !== "list") return typeof member === "function" ? member.bind(target) : member;
      return (selector: KvListSelector, ...options: []) => {
        const list = target.list(selector, ...options);
        const [first] = ("prefix" in selector ? selector.prefix : selector.start) ?? [];
        if (first !== prefix) return list;
        const next = list.next.bind(list);
        let isBegun = false;
        list.next = async () => {
          if (!isBegun) await before(++lists);
          isBegun = true;
          return await next();
        };
        return list;
      };
    },
  });
}

describe("a delete that the program may not make writes nothing", () => {
  const cases = {
    "another has added an index with a function to the row's model": {
      models: { posts: Post, comments: Comment },
      by: async () => {
        const Titled = defineModel({ ...Post, indexes: { byTitle: { key: (row) => row.title } } });
        await migrate(await createDatabase({ kv, models: { posts: Titled, comments: Comment } }));
      },
      code: "KW_STALE_SCHEMA",
    },
    "another has added such an index to a model whose rows would be cleared, of which there are none":
      {
        models: {
          posts: Post,
          comments: Comment,
          drafts: defineModel({ ...Comment, name: "drafts", relations: post("setNull") }),
        },
        by: async () => {
          const Draft = defineModel({
            ...comments,
            name: "drafts",
            indexes: { byPost: { key: "postId" }, byTime: { key: (row) => row.at } },
            relations: post("setNull"),
          });
          const models = { posts: Post, comments: Comment, drafts: Draft };
          await migrate(await createDatabase({ kv, models }));
        },
        code: "KW_STALE_SCHEMA",
      },
    "another has dropped the index of a relation far away": {
      models: {
        posts: Post,
        comments: Comment,
        likes: defineModel({
          name: "likes",
          schema: z.object({ id: z.string(), commentId: z.string() }),
          primaryKey: "id",
          indexes: { byComment: { key: "commentId" } },
          relations: { comment: belongsTo("comments", "commentId") },
        }),
      },
      by: async () => {
        const Like = defineModel({
          name: "likes",
          schema: z.object({ id: z.string(), commentId: z.string() }),
          primaryKey: "id",
        });
        await migrate(await createDatabase({ kv, models: { likes: Like } }), { accept: true });
      },
      code: "KW_INDEX_NOT_READY",
    },
  };

  it.each(Object.entries(cases))("where %s", async (_name, { models, by, code }) => {
    const db = await createDatabase({ kv: denoKv(kv), models });
    await db.posts.create({ data: where });
    await db.comments.createMany({ data: rowsOf(30) });
    await by();
    const before = await keysOf(kv);
    expect(await rejection(db.posts.delete({ where }))).toMatchObject({ code });
    expect(await keysOf(kv)).toEqual(before);
  });

  it("where it has not migrated its own schema", async () => {
    const old = await createDatabase({ kv, models: { posts: Post, comments: Comment } });
    await old.posts.create({ data: where });
    await old.comments.createMany({ data: rowsOf(30) });
    const schema = z.object({ id: z.string(), title: z.number() });
    const Numbered = defineModel({ name: "posts", schema, primaryKey: "id" });
    const migration = defineMigration({
      model: Numbered,
      from: Post.schema,
      to: schema,
      up: (row) => ({ ...row, title: 1 }),
    });
    const models = { posts: Numbered, comments: Comment };
    const db = await createDatabase({ kv: denoKv(kv), models, migrations: [migration] });
    const before = await keysOf(kv);
    const error = await rejection(db.posts.delete({ where }));
    expect(error).toMatchObject({ code: "KW_SCHEMA_NOT_MIGRATED" });
    expect(await keysOf(kv)).toEqual(before);
  });
});

describe("a delete during a migration that drops the index by which it looks for rows", () => {
  const limits: [string, (on: Kv) => Kv][] = [
    ["in one commit", (on) => on],
    ["on a database that takes little at once", denoKv],
  ];
  const rules: Rule[] = ["restrict", "cascade", "setNull"];
  const cases = limits.flatMap(([name, limited]) =>
    rules.map((rule) => [name, rule, limited] as const),
  );

  it.each(cases)("leaves no reference behind, %s: %s", async (_name, rule, limited) => {
    for (const way of ["delete", "deleteMany", "transaction"] as const) {
      let isThrough = false;
      for (let at = 1; !isThrough; at++) {
        const store = await openKv();
        isThrough = true;
        const Old = defineModel({
          ...comments,
          indexes: { byPost: { key: "postId" } },
          relations: post(rule),
        });
        // The same under another name, and the entries in another place.
        const New = defineModel({
          ...comments,
          indexes: { byPostId: { key: "postId" } },
          relations: post(rule),
        });
        const slow = listedKv(store, "comments_by_post", async (list) => {
          if (list !== at) return;
          isThrough = false;
          const now = await createDatabase({ kv: store, models: { posts: Post, comments: New } });
          expect(await migrate(now, { accept: true })).toMatchObject({ status: "done" });
        });
        const models = { posts: Post, comments: Old };
        const db = await createDatabase({ kv: limited(slow), models });
        await db.posts.create({ data: where });
        await db.comments.createMany({ data: rowsOf(way === "transaction" ? 2 : 12) });
        const calls = {
          delete: () => db.posts.delete({ where }),
          deleteMany: () => db.posts.deleteMany({ filter: () => true }),
          transaction: () => db.transaction((tx) => tx.posts.delete({ where })),
        };
        await calls[way]().catch((error: { code?: string }) => {
          expect(["KW_INDEX_NOT_READY", "KW_ROW_REFERENCED", "KW_STALE_SCHEMA"]).toContain(
            error.code,
          );
        });
        await expectReferencesToHold(store, models);
        await store.close();
      }
    }
  });
});

describe("a row that others refer to", () => {
  it("can be deleted in each phase in which the index of the relation is rebuilt", async () => {
    const open = (byPost: object) => {
      const model = { ...comments, indexes: { byPost }, relations: post("cascade") };
      const models = { posts: Post, comments: defineModel(model as typeof comments) };
      return createDatabase({ kv, models });
    };
    const old = await open({ key: "postId", store: "copy" });
    const ids = Array.from({ length: 40 }, (_, i) => `p${i}`);
    await old.posts.createMany({ data: ids.map((id) => ({ id })) });
    await old.comments.createMany({ data: ids.map((id) => ({ id: `of ${id}`, postId: id })) });
    const db = await open({ key: "postId" });
    const deletes: Promise<unknown>[] = [];
    const phases = new Set<string>();
    const onProgress = ({ phase }: { phase: string }) => {
      phases.add(phase);
      deletes.push(db.posts.delete({ where: { id: ids[deletes.length]! } }));
    };
    expect((await migrate(db, { onProgress })).status).toBe("done");
    await Promise.all(deletes);
    expect([...phases].sort()).toEqual(["building", "counting", "dropping", "verifying"]);
    expect(await db.posts.count()).toBe(ids.length - deletes.length);
    expect(await db.comments.count()).toBe(ids.length - deletes.length);
    expect((await verifyIndexes(db)).status).toBe("clean");
  });

  it("is found by an index that is built while a better one is not, and notices who moves in it", async () => {
    const byTime = { byTime: { key: ["postId", "at"] } } as const;
    const old = await createDatabase({
      kv,
      models: {
        posts: Post,
        comments: defineModel({ ...comments, indexes: byTime, relations: post("cascade") }),
      },
    });
    const count = 40;
    await old.posts.create({ data: where });
    await old.comments.createMany({ data: rowsOf(count) });
    const models = {
      posts: Post,
      comments: defineModel({
        ...comments,
        indexes: { ...byTime, byPost: { key: "postId" } },
        relations: post("cascade"),
      }),
    };
    const own = await createDatabase({ kv, models });
    let deletes = 0;
    const beforeDelete = async () => {
      if (++deletes !== count / 4) return;
      // The last of the index becomes the first of it: the delete is behind that.
      await own.comments.update({ where: { id: `c${count - 1}` }, data: { at: -1 } });
    };
    const hooks = { comments: { beforeDelete } };
    const db = await createDatabase({ kv: denoKv(kv), models, hooks });
    await db.posts.delete({ where });
    expect((await own.comments.scan()).items).toEqual([]);
    await expectReferencesToHold(kv, models);
  });
});
