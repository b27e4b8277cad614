import * as z from "zod";
import { belongsTo, defineModel, hasMany, hasOne, manyToMany } from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), country: z.string(), age: z.int(), name: z.string() }),
  primaryKey: "id",
  indexes: { byCountry: { key: ["country", "age"] }, byAge: { key: "age" } },
  relations: {
    posts: hasMany("posts", "authorId"),
    badge: hasOne("badges", "userId"),
  },
});

/** Has an index for tests of one author, one for a walk over authors, and one for neither. */
const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    authorId: z.string(),
    editorId: z.string().optional(),
    status: z.enum(["draft", "live"]),
    rank: z.int(),
    kind: z.string(),
    labels: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    byAuthor: { key: ["authorId", "status", "rank"] },
    byStatus: { key: ["status", "authorId"] },
    byEditor: { key: "editorId" },
    byRank: { key: "rank" },
    byLabel: { key: ["labels", "authorId"], each: true },
    byStatusAndRank: { key: ["status", "rank"] },
  },
  relations: {
    author: belongsTo("users", "authorId", { onDelete: "cascade" }),
    editor: belongsTo("users", "editorId", { onDelete: "setNull" }),
    tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagId" }),
    links: manyToMany("tags", { through: "links", from: "postId", to: "tagId" }),
  },
});

const Badge = defineModel({
  name: "badges",
  schema: z.object({ id: z.string(), userId: z.string(), color: z.string() }),
  primaryKey: "id",
  indexes: { byUser: { key: "userId", unique: true }, byColor: { key: "color" } },
  relations: { user: belongsTo("users", "userId", { onDelete: "cascade" }) },
});

const Tag = defineModel({
  name: "tags",
  schema: z.object({ id: z.string(), group: z.string() }),
  primaryKey: "id",
  indexes: { byGroup: { key: "group" } },
  relations: { posts: manyToMany("posts", { through: "post_tags", from: "tagId", to: "postId" }) },
});

const PostTag = defineModel({
  name: "post_tags",
  schema: z.object({ postId: z.string(), tagId: z.string() }),
  primaryKey: ["postId", "tagId"],
  indexes: { byTag: { key: "tagId" } },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    tag: belongsTo("tags", "tagId", { onDelete: "cascade" }),
  },
});

/** Has a key of its own, so that neither a walk nor a lookup of one pair is possible. */
const Link = defineModel({
  name: "links",
  schema: z.object({ id: z.string(), postId: z.string(), tagId: z.string(), at: z.int() }),
  primaryKey: "id",
  indexes: { byPost: { key: ["postId", "at"] }, byTag: { key: ["tagId", "at"] } },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    tag: belongsTo("tags", "tagId", { onDelete: "cascade" }),
  },
});

/** A blog whose relations have indexes of all kinds. */
export const filterModels = {
  users: User,
  posts: Post,
  badges: Badge,
  tags: Tag,
  postTags: PostTag,
  links: Link,
};
