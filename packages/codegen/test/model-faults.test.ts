import { readdir } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import { config, createProject, type Outcome, type Project } from "./project.js";

let project: Project | undefined;

afterEach(() => project?.remove());

const imports = `import { belongsTo, defineModel, hasMany } from "@keywright/orm";
import * as z from "zod";
`;

/** A module with one model. */
function module(exportName: string, fields: string, more = ""): string {
  return `export const ${exportName} = defineModel({
  name: "${exportName.toLowerCase()}s",
  schema: z.object({ id: z.ulid(), ${fields} }),
  primaryKey: "id",
  ${more}
});
`;
}

/** What `keywright generate` says in a project with these models; nothing may have been written. */
async function outcome(models: Readonly<Record<string, string>>): Promise<Outcome> {
  const files = Object.entries(models).map(([name, text]) => [`models/${name}.ts`, imports + text]);
  project = await createProject({ "keywright.config.ts": config, ...Object.fromEntries(files) });
  const result = await project.run(["generate"]);
  expect(await readdir(project.folder)).not.toContain("db");
  return { ...result, stderr: result.stderr.replaceAll("\\", "/") };
}

describe("a schema that is no whole one is said with its place", () => {
  const undefinedReason = "it is undefined, perhaps because two modules import each other";
  const endless =
    "it is nested without end; declare the schema as a constant, so that its getter returns the same schema each time";
  const makeLazy = "const make = (): z.ZodType => z.lazy(make);\n";
  const makeObject =
    "const make = (): z.ZodType => z.object({ get b() { return make().optional(); } });\n";

  it.each([
    ["", "a: z.lazy(() => undefined as never)", "a", undefinedReason],
    ["", "a: z.object({ b: undefined as never })", "a.b", undefinedReason],
    ["", "a: z.array(5 as never)", "a", "it is not a schema of Zod 4"],
    ["", 'a: z.lazy(() => { throw new Error("no"); })', "a", "the getter of z.lazy throws"],
    [makeLazy, "a: make()", "a", endless],
    [makeLazy, "a: z.preprocess((x) => x, make())", "a", endless],
    [makeLazy, "a: z.tuple([make()]).readonly()", "a", endless],
    [makeObject, "a: make()", "a.b.b", endless],
    // No type is written of what stands beside a symbol: the lock file meets it.
    [makeLazy, "a: z.tuple([z.symbol(), make()])", "", endless],
  ])("%s%s", async (before, field, path, reason) => {
    const { exitCode, stderr } = await outcome({ user: before + module("User", field) });
    expect(stderr).toContain(
      `error KW_TYPE_INEXPRESSIBLE: users: no type can be generated for ${path === "" ? "its schema" : `field ${path} of its schema`}: ${reason}; change`,
    );
    expect(exitCode).toBe(1);
  });

  it("that of a module that imports itself by way of another one", async () => {
    const { exitCode, stderr } = await outcome({
      a: `import { B } from "./b.js";\nexport const A = z.string();\n${module("Town", "b: B")}`,
      b: `import { A } from "./a.js";\nexport const B = z.string();\n${module("User", "a: z.array(A)")}`,
    });
    expect(stderr).toContain(
      `users: no type can be generated for field a of its schema: ${undefinedReason};`,
    );
    expect(exitCode).toBe(1);
  });
});

describe("a relation that no database could be opened with is refused", () => {
  const author = 'relations: { author: belongsTo("users", "authorId") },';

  it.each([
    [
      "to a model that is not there",
      { post: module("Post", "authorId: z.ulid()", author) },
      'the database has no model "users"; its models are posts; `models` of the configuration must include all models that relations name\n',
    ],
    [
      "without an index",
      { post: module("Post", "authorId: z.ulid()", author), user: module("User", "") },
      'no index of posts begins with authorId and has all rows; add byAuthorId: { key: "authorId" } to its indexes\n',
    ],
  ])("%s", async (_, models, reason) => {
    const { exitCode, stderr } = await outcome(models);
    expect(stderr).toContain(
      `error KW_RELATION_INVALID: posts: relations.author (Post in models/post.ts): ${reason}`,
    );
    expect(exitCode).toBe(1);
  });
});
