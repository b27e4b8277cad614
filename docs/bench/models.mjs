import { belongsTo, createDatabase, defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.int(), email: z.email(), city: z.string(), about: z.string() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byCity: { key: "city" } },
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.int(), authorId: z.int(), title: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId") },
});

export const about = "Programs computers, and writes about them in plain words. ".repeat(2);

export function user(id) {
  return { id, email: `user${id}@example.com`, city: `city ${id % 100}`, about };
}

export async function openModels(kv) {
  const database = await createDatabase({ kv, models: { users: User, posts: Post } });
  return { database, users: database.users, posts: database.posts };
}
