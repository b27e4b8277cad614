import { afterEach, expect, it } from "vitest";
import { generate } from "../src/generate/generate.js";
import { compile } from "./compile.js";
import { config, createProject, modelModule, type Project } from "./project.js";

let project: Project | undefined;

afterEach(() => project?.remove());

/** Generates the files of models in a module each, and says what does not compile in them. */
async function diagnostics(modules: Readonly<Record<string, string>>): Promise<string[]> {
  const files = Object.entries(modules).map(([name, text]) => [`models/${name}.ts`, text]);
  project = await createProject({ "keywright.config.ts": config, ...Object.fromEntries(files) });
  await generate({ folder: project.folder });
  return compile([project.path("db/index.ts")]);
}

/** A module of a model with a field whose type contains itself. */
function recursiveModule(exportName: string, field: string): string {
  return modelModule(exportName, `${exportName}s`.toLowerCase()).replace(
    "id: z.ulid()",
    `id: z.ulid(), ${field}: z.json()`,
  );
}

it("recursive types do not take the names of what their files import", async () => {
  const modules = {
    list: recursiveModule("List", "options"),
    row: recursiveModule("Row", "query"),
    field: recursiveModule("Field", "operation"),
    open: recursiveModule("Open", "options"),
    user: recursiveModule("User", "_"),
    with: recursiveModule("With", "deleted"),
  };
  expect(await diagnostics(modules)).toEqual([]);
  const named = await Promise.all(
    ["lists", "rows", "fields", "opens", "users", "withs"].map(async (name) => {
      const text = (await project?.read(`db/${name}.ts`)) ?? "";
      return /^export type (\w+)/m.exec(text)?.[1];
    }),
  );
  expect(named).toEqual([
    "ListOptions2",
    "RowQuery2",
    "FieldOperation2",
    "OpenOptions2",
    "User2",
    "WithDeleted2",
  ]);
});

/** Modules of models that are exported under these names. */
function modulesOf(names: string): Record<string, string> {
  const modules = names.split(" ").map((name, i) => [`m${i}`, modelModule(name, `things${i}`)]);
  return Object.fromEntries(modules);
}

it("models may be exported under names of generated files", async () => {
  const modules = modulesOf("options body limits tx models database Model openModels Kv Rows");
  expect(await diagnostics(modules)).toEqual([]);
});

it("models may be exported under names of generated files, and under a word that names no variable", async () => {
  const module = `${modelModule("Del", "deletions").replace("export const", "const")}
export { Del as delete };
`;
  expect(await diagnostics({ ...modulesOf("Models Database"), del: module })).toEqual([]);
  expect(await project?.read("db/index.ts")).toContain(
    'import { delete as deleteModel } from "../models/del.js";',
  );
});
