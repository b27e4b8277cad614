import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Blog, openBlog } from "../src/database.js";
import { frontPage } from "../src/front-page.js";
import { publish } from "../src/publish.js";

let kv: EmbeddedKv;
let blog: Blog;
let adaId: string;
beforeEach(async () => {
  kv = await openKv();
  blog = await openBlog(kv);
  adaId = (await blog.users.create({ data: { handle: "ada", name: "Ada" } })).id;
});
afterEach(() => kv.close());

const draft = { title: "Notes", body: "…", tags: ["math"] };

it("publishes a post with its tags, or nothing", async () => {
  await publish(blog, { ...draft, authorId: adaId });
  expect(await frontPage(blog)).toEqual([
    { title: "Notes", author: "Ada", tags: ["math"], comments: 0 },
  ]);
  const bad = publish(blog, { ...draft, authorId: adaId, tags: ["new", "Upper Case"] });
  await expect(bad).rejects.toMatchObject({ code: "KW_ROW_INVALID", model: "tags" });
  expect((await blog.tags.scan()).items).toEqual([{ name: "math" }]);
  expect(await blog.posts.count()).toBe(1);
});

it("deletes an author's posts with their tags and comments, and keeps the author's comments", async () => {
  const bob = await blog.users.create({ data: { handle: "bob", name: "Bob" } });
  const own = await publish(blog, { ...draft, authorId: adaId });
  const other = await publish(blog, { ...draft, authorId: bob.id });
  await blog.comments.create({ data: { postId: own.id, authorId: bob.id, text: "Yes" } });
  await blog.comments.create({ data: { postId: other.id, authorId: adaId, text: "No" } });
  await blog.users.delete({ where: { id: adaId } });
  expect((await blog.posts.scan()).items).toMatchObject([{ id: other.id }]);
  expect((await blog.comments.scan()).items).toMatchObject([{ text: "No", authorId: null }]);
  expect((await blog.postTags.scan()).items).toEqual([{ postId: other.id, tagName: "math" }]);
});

it("prints what happens", async () => {
  const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  expect(stdout).toContain(
    'Comments on "A walk": 0\nAda adds a comment. The live query sends:\n  Ada: Where to?\n',
  );
  expect(stdout).toContain('Deleting the tag "math" fails: a row of post_tags refers to it.\n');
  expect(stdout).toContain("The live query sends:\n  (deleted user): Where to?\n");
  expect(stdout.match(/│ ["']?A walk\b/g)).toHaveLength(2);
  expect(stdout.match(/\bNotes\b/g)).toHaveLength(1);
});
