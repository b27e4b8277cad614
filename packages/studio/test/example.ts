import { type EmbeddedKv, type OpenKvOptions, openKv } from "@keywright/core";
import {
  belongsTo,
  createDatabase,
  type Database,
  defineModel,
  desc,
  hasMany,
  manyToMany,
} from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    name: z.string().min(1).describe("The name as the user writes it."),
    email: z.email(),
    plan: z.enum(["free", "team", "company"]).default("free"),
    age: z.int().nullable().default(null),
    balance: z.bigint(),
    isActive: z.boolean(),
    createdAt: z.date(),
    avatar: z.instanceof(Uint8Array).optional(),
    settings: z.map(z.string(), z.boolean()).optional(),
    labels: z.array(z.string()).default([]),
  }),
  primaryKey: "id",
  count: true,
  indexes: {
    byEmail: { key: "email", unique: true },
    byPlan: { key: ["plan", desc("createdAt")], count: true },
    byAge: { key: "age" },
    byLabel: { key: "labels", each: true },
  },
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    authorId: z.string(),
    title: z.string(),
    body: z.string(),
    publishedAt: z.date(),
  }),
  primaryKey: "id",
  indexes: { byAuthor: { key: ["authorId", "publishedAt"] } },
  relations: {
    author: belongsTo("users", "authorId", { onDelete: "cascade" }),
    tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagId" }),
  },
});
const Tag = defineModel({
  name: "tags",
  schema: z.object({ id: z.string(), color: z.string().optional() }),
  primaryKey: "id",
  relations: { posts: manyToMany("posts", { through: "post_tags", from: "tagId", to: "postId" }) },
});
const PostTag = defineModel({
  name: "post_tags",
  schema: z.object({ postId: z.string(), tagId: z.string() }),
  primaryKey: ["postId", "tagId"],
  indexes: { byTag: { key: "tagId" } },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    tag: belongsTo("tags", "tagId"),
  },
});

export const models = { users: User, posts: Post, tags: Tag, postTags: PostTag };

/** A database with example rows. */
export interface Example {
  readonly kv: EmbeddedKv;
  readonly db: Database<typeof models>;
}

const rowsAtOnce = 10_000;

/** Fills a database in memory with some users, 50 posts and three tags. */
export async function openExample(
  users = 20,
  options: Pick<OpenKvOptions, "log"> = {},
): Promise<Example> {
  const kv = await openKv(":memory:", options);
  const db = await createDatabase({ kv, models });
  for (let from = 0; from < users; from += rowsAtOnce) {
    const length = Math.min(rowsAtOnce, users - from);
    await db.users.createMany({ data: Array.from({ length }, (_, i) => userOf(from + i)) });
  }
  const tags = ["engines", "weaving", "<b>bold</b>"];
  await db.tags.createMany({ data: tags.map((id) => ({ id })) });
  for (let i = 0; i < Math.min(users, 50); i++) {
    await db.posts.create({
      data: {
        id: `post-${String(i).padStart(3, "0")}`,
        authorId: userOf(i % 7).id,
        // Neither markup nor control characters may have an effect on a page.
        title: `<img src=x onerror="document.title='broken'">`,
        body: `Notes\u0007 on the engine, part ${i}. `.repeat(8),
        publishedAt: new Date(Date.UTC(2026, 1, i + 1)),
        tags: { connect: { id: "engines" } },
      },
    });
  }
  await kv.set(["cache", "front"], "page", { expireIn: 3_600_000 });
  await kv.set(["cache", "count"], 5n);
  await kv.set(["deep", 1, true, 2n, new Uint8Array([1, 255])], new Map([["a", new Set([1])]]));
  return { kv, db };
}

export function userOf(i: number) {
  return {
    id: `user-${String(i).padStart(7, "0")}`,
    name: i === 3 ? "Zed\u202egnp.exe" : `Ada Lovelace ${i}`,
    email: `ada${i}@example.com`,
    plan: (["free", "team", "company"] as const)[i % 3]!,
    age: i % 11 === 0 ? null : 18 + (i % 60),
    balance: BigInt(i) * 1_000_000_007n,
    isActive: i % 4 !== 0,
    createdAt: new Date(Date.UTC(2026, 0, 1) + i * 60_000),
    ...(i % 5 === 0 && { avatar: new Uint8Array([137, 80, 78, 71, i % 256]) }),
    ...(i % 6 === 0 && { settings: new Map([["dark", i % 2 === 0]]) }),
    labels: i % 3 === 0 ? ["early", `group-${i % 10}`] : [],
  };
}
