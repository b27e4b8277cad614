import { defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.ulid(),
    handle: z.string().regex(/^\w+$/),
    name: z.string(),
  }),
  primaryKey: "id",
  indexes: {
    byHandle: { key: "handle", unique: true, normalize: "lowercase" },
  },
  relations: {
    posts: hasMany("posts", "authorId"),
    comments: hasMany("comments", "authorId"),
  },
});
