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

// A live query, as a page of comments that is open in a browser needs it.
const comments = blog.comments.watchMany({
  where: { postId: second.id },
  include: { author: true },
});
const reader = comments.getReader();
console.log(`Comments on "A walk": ${(await reader.read()).value?.length}`);
await blog.comments.create({ data: { postId: second.id, authorId: ada.id, text: "Where to?" } });
console.log("Ada adds a comment. The live query sends:");
await printComments();

console.log("\nThe front page:");
console.table(await frontPage(blog));

// A tag that a post has cannot be deleted.
const tag = { where: { name: "math" } };
await blog.tags.delete(tag).catch((error) => {
  if (!(error instanceof RowReferencedError)) throw error;
  console.log(`\nDeleting the tag "math" fails: a row of ${error.by.model} refers to it.`);
});
// Deleting an author deletes the author's posts. The author's comments remain, without an author.
await blog.users.delete({ where: { handle: "ADA" } });
console.log("\nAda is deleted, with her posts. The live query sends:");
await printComments();
await blog.tags.delete(tag);
console.log('\nNo post has the tag "math" now: it is deleted. The front page:');
console.table(await frontPage(blog));
await reader.cancel();

async function printComments(): Promise<void> {
  for (const { author, text } of (await reader.read()).value ?? [])
    console.log(`  ${author?.name ?? "(deleted user)"}: ${text}`);
}
