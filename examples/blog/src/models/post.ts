import { belongsTo, defineModel, hasMany, manyToMany } from "@keywright/orm";
import * as z from "zod";

export const Post = defineModel({
  name: "posts",
  schema: z.object({
    id: z.ulid(),
    authorId: z.ulid(),
    title: z.string().trim().min(1),
    body: z.string(),
    publishedAt: z.date().optional(),
  }),
  primaryKey: "id",
  indexes: {
    byAuthor: { key: "authorId" },
    byPublication: { key: "publishedAt" },
  },
  relations: {
    author: belongsTo("users", "authorId", { onDelete: "cascade" }),
    comments: hasMany("comments", "postId"),
    tags: manyToMany("tags", { through: "post_tags", from: "postId", to: "tagName" }),
  },
});
