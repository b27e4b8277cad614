import * as z from "zod";
import { belongsTo, defineModel, hasMany, hasOne, manyToMany } from "../src/index.js";

export const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.string(),
    name: z.string(),
    bossId: z.string().nullable().default(null),
  }),
  primaryKey: "id",
  indexes: { byBoss: { key: "bossId" } },
  relations: {
    posts: hasMany("posts", "authorId"),
    comments: hasMany("comments", "authorId"),
    profile: hasOne("profiles", "userId"),
    boss: belongsTo("users", "bossId", { onDelete: "setNull" }),
    team: hasMany("users", "bossId"),
  },
});

/** At most one for each user. */
const Profile = defineModel({
  name: "profiles",
  schema: z.object({ id: z.string(), userId: z.string(), text: z.string() }),
  primaryKey: "id",
  indexes: { byUser: { key: "userId", unique: true } },
  relations: { user: belongsTo("users", "userId", { onDelete: "cascade" }) },
});

const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.string(),
    authorId: z.string(),
    title: z.string(),
    rank: z.number().default(0),
  }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" }, byAuthorAndRank: { key: ["authorId", "rank"] } },
  relations: {
    author: belongsTo("users", "authorId", { onDelete: "cascade" }),
    comments: hasMany("comments", "postId"),
    tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagId" }),
  },
});

/** A comment goes with its post, and outlives its author. */
const Comment = defineModel({
  name: "comments",
  schema: z.object({
    id: z.string(),
    postId: z.string(),
    authorId: z.string().optional(),
    text: z.string().default(""),
  }),
  primaryKey: "id",
  indexes: { byPost: { key: "postId" }, byAuthor: { key: "authorId" } },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    author: belongsTo("users", "authorId", { onDelete: "setNull" }),
  },
});

const Tag = defineModel({
  name: "tags",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
  relations: { posts: manyToMany("posts", { through: "post_tags", from: "tagId", to: "postId" }) },
});

/** Which post has which tag: a tag that is in use stays. */
const PostTag = defineModel({
  name: "post_tags",
  schema: z.object({ postId: z.string(), tagId: z.string() }),
  primaryKey: ["postId", "tagId"],
  indexes: { byTag: { key: "tagId" } },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    tag: belongsTo("tags", "tagId", { onDelete: "restrict" }),
  },
});

/** A blog with relations of all kinds, in circles too. */
export const blogModels = {
  users: User,
  profiles: Profile,
  posts: Post,
  comments: Comment,
  tags: Tag,
  postTags: PostTag,
};
