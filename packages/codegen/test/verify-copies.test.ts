import { belongsTo, createDatabase, defineModel } from "@keywright/orm";
import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import { playersConfig, withDatabase } from "./players-project.js";
import { createProject, type Project } from "./project.js";

const models = `import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
});
export const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string(), author: z.string().default("") }),
  primaryKey: "id",
  count: true,
  indexes: { byAuthor: { key: ["authorId"], count: true } },
  relations: { writer: belongsTo("users", "authorId", { copy: { author: "name" } }) },
});
`;
const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string(), author: z.string().default("") }),
  primaryKey: "id",
  count: true,
  indexes: { byAuthor: { key: ["authorId"], count: true } },
  relations: { writer: belongsTo("users", "authorId", { copy: { author: "name" } }) },
});

let project: Project;

afterEach(() => project.remove());

it("verify names copied fields and counters that are wrong, and repairs them", async () => {
  project = await createProject({
    "keywright.config.ts": playersConfig(),
    "models/blog.ts": models,
  });
  await withDatabase(project, async (kv) => {
    const db = await createDatabase({ kv, models: { users: User, posts: Post } });
    await db.users.create({ data: { id: "ada", name: "Ada" } });
    await db.posts.createMany({
      data: ["1", "2"].map((id) => ({ id, authorId: "ada" })),
    });
    await kv.set(["posts", "2"], { id: "2", authorId: "ada", author: "Bob" });
    await kv.atomic().sum(["__keywright", "count", "posts_by_author", "ada"], 5n).commit();
  });
  const found = await project.run(["verify"]);
  expect(found.stdout).toContain('posts  1 counter is wrong\n  count  byAuthor  ["ada"]\n');
  expect(found.stdout).toContain(
    'posts  copied fields of 1 row differ\n  row "2"  author of writer\n',
  );
  expect(found.stdout).toContain("Damaged. To repair this:\n  npx keywright verify --repair");
  expect(found.exitCode).toBe(1);
  const repaired = await project.run(["verify", "--repair"]);
  expect(repaired.stdout).toContain("posts  1 counter is wrong; counted again");
  expect(repaired.stdout).toContain("posts  copied fields of 1 row differ; 1 repaired");
  expect(repaired.exitCode).toBe(0);
  expect((await project.run(["verify"])).stdout).toContain("Clean.");
});
