import type { Blog } from "./database.js";

/** A line of the front page. */
export interface Teaser {
  readonly title: string;
  readonly author: string;
  readonly tags: readonly string[];
  readonly comments: number;
}

/** Returns the latest posts, newest first. */
export async function frontPage(blog: Blog, take = 10): Promise<Teaser[]> {
  const { items } = await blog.posts.findMany({
    orderBy: { publishedAt: "desc" },
    index: "byPublication",
    take,
    include: { author: true, tags: true },
  });
  return await Promise.all(
    items.map(async ({ id, title, author, tags }) => ({
      title,
      author: author.name,
      tags: tags.map((tag) => tag.name),
      comments: await blog.comments.count({ where: { postId: id } }),
    })),
  );
}
