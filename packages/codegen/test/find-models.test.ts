import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { loadConfig } from "../src/project/config/load-config.js";
import { findModels } from "../src/project/models/find-models.js";
import { createProject, modelModule, type Project } from "./project.js";

const execute = promisify(execFile);

let project: Project | undefined;

afterEach(() => project?.remove());

/** What is found in a project: `export name` in `module`, in order. */
async function found(models: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  project = await createProject({
    "keywright.config.ts": `export default { models: ${models}, output: "db" };\n`,
    ...files,
  });
  const { folder } = project;
  const all = await findModels(await loadConfig(folder));
  return all.map(
    ({ exportName, modulePath }) =>
      `${exportName} in ${modulePath.slice(folder.length + 1).replaceAll("\\", "/")}`,
  );
}

const [user, town] = [modelModule("User", "users"), modelModule("Town", "towns")];

describe("findModels", () => {
  it("finds the models of files and patterns once each, by their names", async () => {
    const models = '["./models/**/*.ts", "models/user.ts", "!models/old.ts"]';
    const files = {
      "models/user.ts": user,
      "models/deep/town.ts": town,
      "models/old.ts": "throw new Error();\n",
      "models/types.d.ts": "export type A = 1;\n",
    };
    expect(await found(models, files)).toEqual([
      "Town in models/deep/town.ts",
      "User in models/user.ts",
    ]);
  });

  it("takes a file whose name looks like a pattern, and JavaScript", async () => {
    const files = { "models/[user].ts": user, "models/town.mjs": town };
    expect(await found('["models/[user].ts", "models/*.mjs"]', files)).toEqual([
      "Town in models/town.mjs",
      "User in models/[user].ts",
    ]);
  });

  it("takes a model from the module that defines it, and not from one that exports it again", async () => {
    const files = {
      "models/all.ts": 'export { User } from "./user.js";\nexport * from "./town.js";\n',
      "models/town.ts": `${town}export const note = 1;\n`,
      "models/user.ts": `${user}export default User;\n`,
    };
    expect(await found('"models/*.ts"', files)).toEqual([
      "Town in models/town.ts",
      "User in models/user.ts",
    ]);
  });

  it("takes several models of one module, and modules that import each other", async () => {
    const files = {
      "models/a.ts": `export { Town as Also } from "./b.js";\n${user}`,
      "models/b.ts": `import "./a.js";\n${town}`,
    };
    expect(await found('"models/*.ts"', files)).toEqual([
      "Town in models/b.ts",
      "User in models/a.ts",
    ]);
  });

  it("follows the path aliases of tsconfig.json, in a project of CommonJS too", async () => {
    const files = {
      "package.json": "{}\n",
      "tsconfig.json": '{ "compilerOptions": { "paths": { "#models/*": ["./models/*"] } } }\n',
      "all.ts": 'export { User } from "#models/user.js";\n',
      "models/user.ts": user,
    };
    expect(await found('"all.ts"', files)).toEqual(["User in all.ts"]);
  });

  it("gives the models the same Keywright and Zod that the project's own programs get", async () => {
    const loader = new URL("../dist/project/config/load-module.js", import.meta.url);
    project = await createProject({
      "user.ts": `${user}export { defineModel, z };\n`,
      "program.mjs": `import { defineModel } from "@keywright/orm";
import * as z from "zod";
import { createModuleLoader } from ${JSON.stringify(loader.href)};

const loadModule = createModuleLoader(import.meta.filename);
const user = await loadModule(import.meta.dirname + "/user.ts");
console.log(user.defineModel === defineModel, user.z.ZodObject === z.ZodObject);
`,
    });
    const { stdout } = await execute(process.execPath, ["program.mjs"], { cwd: project.folder });
    expect(stdout).toBe("true true\n");
  });
});

it("a module without a model that a pattern matches is a note", async () => {
  project = await createProject({
    "keywright.config.ts": 'export default { models: "models/*.ts", output: "db" };\n',
    "models/user.ts": user,
    "models/shared.ts": "export const shared = 1;\n",
  });
  const { exitCode, stdout, stderr } = await project.run(["generate"]);
  expect(stderr).toContain("note: models/shared.ts exports no model;");
  expect(stdout).toContain("1 model: 3 files written");
  expect(exitCode).toBe(0);
  await project.write({ "models/user.ts": "export const other = 1;\n" });
  const none = await project.run(["generate"]);
  expect(none.stderr).toContain("KW_MODULE_WITHOUT_MODEL");
});

it("the database of the configuration can be a folder, relative to the configuration", async () => {
  project = await createProject({
    "app/keywright.config.ts":
      'export default { models: "models/*.ts", output: "db", database: "./data" };\n',
    "app/models/user.ts": user,
  });
  const args = ["--config", "app/keywright.config.ts"];
  expect((await project.run(["migrate", "plan", ...args])).stderr).toContain(
    "KW_DATABASE_NOT_FOUND",
  );
  expect((await project.run(["migrate", "run", ...args])).exitCode).toBe(0);
  expect((await readdir(project.path("app"))).sort()).toContain("data");
});
