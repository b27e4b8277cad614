import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";

/** If the author is deleted, the comment remains and its `authorId` becomes null. */
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
