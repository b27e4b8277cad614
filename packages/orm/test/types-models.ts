import * as z from "zod";
import {
  belongsTo,
  type Database,
  defineModel,
  desc,
  hasMany,
  hasOne,
  manyToMany,
} from "../src/index.js";

/** A model with an index of every kind, for the tests of types. */
export const Game = defineModel({
  name: "games",
  schema: z.object({
    id: z.string(),
    team: z.string(),
    score: z.number(),
    round: z.bigint(),
    rank: z.int().optional(),
    nick: z.string().nullable(),
    playedAt: z.date(),
    level: z.enum(["easy", "hard"]),
    tags: z.array(z.string()),
    marks: z.array(z.date()).optional(),
    note: z.string().default(""),
  }),
  primaryKey: "id",
  indexes: {
    byTeamAndScore: { key: ["team", "score"] },
    byLevelAndTime: { key: ["level", desc("playedAt"), "round"] },
    byTeamAndRank: { key: ["team", "nick", "rank"] },
    byTag: { key: "tags", each: true },
    byMark: { key: ["round", "marks"], each: true },
    byOpen: { key: "playedAt", where: (game) => game.score === 0 },
    byInitial: { key: (game) => game.team[0] },
    byWords: { key: (game) => game.note.split(" "), each: true },
    byRank: { key: "rank" },
    bySlot: { key: ["level", "round"], unique: true },
    byNick: { key: "nick", unique: true, normalize: (nick) => nick.toLowerCase() },
  },
});

export const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name: z.string(), teamId: z.string().optional() }),
  primaryKey: "id",
  indexes: { byTeam: { key: "teamId" } },
  relations: {
    team: belongsTo("teams", "teamId"),
    posts: hasMany("posts", "authorId"),
    badge: hasOne("badges", "userId"),
  },
});

export const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string(), title: z.string() }),
  primaryKey: "id",
});

export const Badge = defineModel({
  name: "badges",
  schema: z.object({ userId: z.string(), color: z.string() }),
  primaryKey: "userId",
  relations: { user: belongsTo("users", "userId") },
});

export const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.ulid(), authorId: z.string(), at: z.date(), title: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: ["authorId", "at"] } },
  relations: {
    author: belongsTo("users", "authorId", { onDelete: "cascade" }),
    tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagId" }),
  },
});

export const Tag = defineModel({
  name: "tags",
  schema: z.object({ id: z.string() }),
  primaryKey: "id",
});

export const PostTag = defineModel({
  name: "post_tags",
  schema: z.object({ postId: z.string(), tagId: z.string() }),
  primaryKey: ["postId", "tagId"],
  indexes: { byTag: { key: "tagId" } },
});

export type Models = {
  games: typeof Game;
  users: typeof User;
  teams: typeof Team;
  badges: typeof Badge;
  posts: typeof Post;
  tags: typeof Tag;
  postTags: typeof PostTag;
};

/** A database of all of them. */
export type Db = Database<Models>;
