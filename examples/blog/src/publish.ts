import type { Blog } from "./database.js";

/** A post as its author submits it. */
export interface Draft {
  readonly authorId: string;
  readonly title: string;
  readonly body: string;
  readonly tags: readonly string[];
}

/** Publishes a post and creates its new tags, in one transaction. */
export async function publish(blog: Blog, draft: Draft): Promise<{ id: string; title: string }> {
  const { tags, ...data } = draft;
  return await blog.transaction(async (tx) => {
    const post = await tx.posts.create({ data: { ...data, publishedAt: new Date() } });
    for (const name of tags) {
      await tx.tags.upsert({ where: { name }, create: { name }, update: {} });
      await tx.postTags.create({ data: { postId: post.id, tagName: name } });
    }
    return post;
  });
}
