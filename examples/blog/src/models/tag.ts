import { belongsTo, defineModel, manyToMany } from "@keywright/orm";
import * as z from "zod";

export const Tag = defineModel({
  name: "tags",
  schema: z.object({ name: z.string().lowercase() }),
  primaryKey: "name",
  relations: {
    posts: manyToMany("posts", { through: "post_tags", from: "tagName", to: "postId" }),
  },
});

/** Links posts and tags. A tag that a post has cannot be deleted. */
export const PostTag = defineModel({
  name: "post_tags",
  schema: z.object({ postId: z.ulid(), tagName: z.string() }),
  primaryKey: ["postId", "tagName"],
  indexes: { byTag: { key: "tagName" } },
  relations: {
    post: belongsTo("posts", "postId", { onDelete: "cascade" }),
    tag: belongsTo("tags", "tagName", { onDelete: "restrict" }),
  },
});
