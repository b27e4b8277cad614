import { openKv } from "@keywright/core";
import { RowReferencedError } from "@keywright/orm";
import { openBlog } from "./database.js";
import { frontPage } from "./front-page.js";
import { publish } from "./publish.js";

await using kv = await openKv();
const blog = await openBlog(kv);

const ada = await blog.users.create({ data: { handle: "ada", name: "Ada" } });
const bob = await blog.users.create({ data: { handle: "Bob", name: "Bob" } });
await publish(blog, { authorId: ada.id, title: "Notes", body: "…", tags: ["math", "engines"] });
const second = await publish(blog, {
  authorId: bob.id,
  title: "A walk",
  body: "…",
  tags: ["life"],
});

// A page of comments that is open in somebody's browser.
const comments = blog.comments.watchMany({
  where: { postId: second.id },
  include: { author: true },
});
const reader = comments.getReader();
console.log("comments:", (await reader.read()).value?.length);
await blog.comments.create({ data: { postId: second.id, authorId: ada.id, text: "Where to?" } });
for (const { author, text } of (await reader.read()).value ?? [])
  console.log(`${author?.name}: ${text}`);

console.table(await frontPage(blog));

// A tag that a post has stays; its author's leave takes the posts along, and leaves the comments.
const tag = { where: { name: "math" } };
await blog.tags.delete(tag).catch((error) => {
  if (error instanceof RowReferencedError)
    console.log(`${tag.where.name} is in use by ${error.by.model}`);
});
await blog.users.delete({ where: { handle: "ADA" } });
for (const { author, text } of (await reader.read()).value ?? []) {
  console.log(`${author?.name ?? "somebody"}: ${text}`);
}
await blog.tags.delete(tag);
console.table(await frontPage(blog));
await reader.cancel();
