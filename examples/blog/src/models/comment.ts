import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";

/** A comment outlives its author: it is nobody's then. */
export const Comment = defineModel({
  name: "comments",
  schema: z.object({
    id: z.ulid(),
    postId: z.ulid(),
    authorId: z.ulid().nullable(),
    text: z.string().trim().min(1),
  }),
  primaryKey: "id",
  indexes: {
    byPost: { key: "postId", count: true },
    byAuthor: { key: "authorId" },
  },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    author: belongsTo("users", "authorId", { onDelete: "setNull" }),
  },
});
