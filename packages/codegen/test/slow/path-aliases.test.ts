import { rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProject, modelModule, type Project } from "../project.js";

const paths = (at: string) => `"paths": { "@/*": ["${at}/nowhere/*", "${at}/src/*"] }`;
const importing = `import { Email } from "@/lib/email";\n${modelModule("User", "users").replace("z.email()", "Email")}`;

/** As Vite's templates have them: one `tsconfig.json` that refers to two others. */
const files = {
  "tsconfig.json":
    '{ "files": [], "references": [{ "path": "./tsconfig.node.json" }, { "path": "./tsconfig.app.json" }] }',
  "tsconfig.node.json": '{ "include": ["*.config.ts"] }',
  "tsconfig.app.json": `{ "compilerOptions": { "module": "esnext", "moduleResolution": "bundler", ${paths(".")} }, "include": ["src"] }`,
  "keywright.config.ts":
    'import { output } from "@/lib/output";\n\nexport default { models: "src/models/*.ts", output };\n',
  "src/lib/output.ts": 'export const output = "src/db";\n',
  "src/lib/email.ts":
    'import * as z from "zod";\n\nexport const Email = z.email().brand<"Email">();\n',
  "src/models/user.ts": importing,
};

let project: Project;

beforeEach(async () => {
  project = await createProject(files);
});
afterEach(() => project.remove());

const done = { exitCode: 0, stderr: "" };

describe("path aliases", () => {
  it("are those of the tsconfig.json that is referred to for a module, or of the first that has some", async () => {
    expect(await project.spawn(["generate"])).toMatchObject(done);
    expect(await project.read("src/db/users.ts")).toContain(
      "email: z.output<typeof User.schema.shape.email>;",
    );
  });

  it("are taken from what that one extends, relative to it", async () => {
    await project.write({
      "tsconfig.app.json": '{ "extends": "./config/base.json", "include": ["src"] }',
      "config/base.json": `{ "compilerOptions": { ${paths("..")} } }`,
    });
    expect(await project.run(["generate"])).toMatchObject(done);
  });

  it("are those of tsconfig.json itself where no other has any", async () => {
    await project.write({
      "tsconfig.json": `{ "compilerOptions": { ${paths(".")} }, "files": [], "references": [{ "path": "./tsconfig.app.json" }] }`,
      "tsconfig.app.json": '{ "include": ["src"] }',
    });
    // The compiler does not find them there: a note says so.
    expect((await project.run(["generate"])).exitCode).toBe(0);
  });

  it("take a baseUrl", async () => {
    await project.write({
      "tsconfig.app.json":
        '{ "compilerOptions": { "baseUrl": "./src", "paths": { "@/lib/*": ["lib/*"] } }, "include": ["src"] }',
      "src/models/user.ts": importing.replace("@/lib/email", "lib/email"),
    });
    expect(await project.run(["generate"])).toMatchObject(done);
  });
});

it("an import that is not found is said to be a path alias or a package that is missing", async () => {
  await rm(project.path("tsconfig.json"));
  const { exitCode, stderr } = await project.run(["generate"]);
  expect(stderr).toContain("KW_MODULE_FAILED");
  expect(stderr).toContain("Cannot find module '@/lib/output'");
  expect(stderr).toContain("add a path alias to `paths` of tsconfig.json");
  expect(stderr).not.toContain("without a database");
  expect(exitCode).toBe(1);
});
