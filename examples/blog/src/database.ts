import type { KvLike } from "@keywright/core";
import { createDatabase, type Database } from "@keywright/orm";
import { Comment } from "./models/comment.js";
import { Post } from "./models/post.js";
import { PostTag, Tag } from "./models/tag.js";
import { User } from "./models/user.js";

const models = { users: User, posts: Post, comments: Comment, tags: Tag, postTags: PostTag };

/** The blog's database: a repository for each of its models. */
export type Blog = Database<typeof models>;

export async function openBlog(kv: KvLike): Promise<Blog> {
  return await createDatabase({ kv, models });
}
