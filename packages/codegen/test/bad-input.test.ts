import { mkdir, readdir } from "node:fs/promises";
import { afterEach, expect, it } from "vitest";
import { CodegenError } from "../src/errors/codegen-error.js";
import { codegenErrorCodes } from "../src/errors/codes.js";
import { generate } from "../src/generate/generate.js";
import { config, createProject, modelModule, type Project } from "./project.js";

let project: Project | undefined;

afterEach(async () => {
  await project?.remove();
  project = undefined;
});

/**
 * The error of `generate` in a project with these files, in which nothing may have been written.
 */
async function failure(
  files: Readonly<Record<string, string>>,
  options: { readonly config?: string } = {},
): Promise<CodegenError> {
  project = await createProject(files);
  const error: unknown = await generate({ folder: project.folder, ...options }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CodegenError);
  const { code, message } = error as CodegenError;
  expect(codegenErrorCodes).toContain(code);
  // What is wrong, and after a semicolon what to do.
  expect(message).toMatch(/^\S.*; \S.*[^.]$/s);
  for (const [field, value] of Object.entries(error as CodegenError)) {
    const parts: unknown[] = Array.isArray(value) ? value : [value];
    const texts = parts.filter((part) => typeof part === "string");
    if (!["name", "code", "cause"].includes(field)) {
      for (const text of texts) expect(message, field).toContain(text);
    }
  }
  expect(await readdir(project.folder)).not.toContain("db");
  return error as CodegenError;
}

const user = modelModule("User", "users");

it("KW_CONFIG_MISSING: no configuration", async () => {
  const error = await failure({ "models/user.ts": user });
  expect(error).toMatchObject({ code: "KW_CONFIG_MISSING" });
  expect(error).toHaveProperty("tried.0", project?.path("keywright.config.ts"));
});

it("KW_CONFIG_MISSING: --config names no file", async () => {
  const error = await failure({ "keywright.config.ts": config }, { config: "nowhere.ts" });
  expect(error).toMatchObject({ code: "KW_CONFIG_MISSING", tried: [project?.path("nowhere.ts")] });
});

it.each([
  ["export const config = 1;", "default", "there is no default export"],
  ['export default "models/*.ts";', "default", "it is a string, not an object"],
  ["export default null;", "default", "it is null, not an object"],
  ["export default [];", "default", "it is a list, not an object"],
  ['export default { output: "db" };', "models", "it is not a path or a list of paths"],
  ['export default { models: [], output: "db" };', "models", "it is an empty list"],
  [
    'export default { models: [1], output: "db" };',
    "models",
    "it is not a path or a list of paths",
  ],
  ['export default { models: "m.ts" };', "output", "it is not a path"],
  ['export default { models: "m.ts", output: "" };', "output", "it is not a path"],
  [
    'export default { models: "m.ts", output: "db", outptu: 1 };',
    "outptu",
    "there is no such setting",
  ],
  [
    'export default Promise.resolve({ models: "m.ts", output: "db" });',
    "default",
    "it is a promise, so export its result with await",
  ],
  [
    'export default { models: "m.ts", output: "db", migrations: [1] };',
    "migrations[0]",
    "it is not a result of defineMigration",
  ],
  [
    'export default { models: "m.ts", output: "db", adopt: { models: { users: {} } } };',
    "adopt.models.users",
    "it is not a result of guideLayout, kvdexLayout or pentagonLayout",
  ],
])("KW_CONFIG_INVALID: %s", async (text, at, reason) => {
  const error = await failure({ "keywright.config.ts": text });
  const path = project?.path("keywright.config.ts");
  expect(error).toMatchObject({ code: "KW_CONFIG_INVALID", path, at, reason });
});

it.each([
  ["throws", 'const x: string = "a";\n\nthrow new Error(x);\n', 3, /^a$/],
  ["has a syntax error", "export default {\n  models: = 1,\n};\n", 2, /ParseError/],
  ["imports what is not there", '\nimport "./nowhere.js";\n', 2, /nowhere/],
])("KW_MODULE_FAILED: the configuration %s", async (_, text, line, message) => {
  const error = await failure({ "keywright.config.ts": text });
  const path = project?.path("keywright.config.ts");
  expect(error).toMatchObject({ code: "KW_MODULE_FAILED", path, at: `${path}:${line}` });
  expect((error.cause as Error).message).toMatch(message);
});

it("KW_MODULE_FAILED: what is thrown is no error", async () => {
  const error = await failure({ "keywright.config.ts": 'throw "something";\n' });
  expect(error).toMatchObject({ code: "KW_MODULE_FAILED", at: undefined, cause: "something" });
});

it("KW_MODULE_FAILED: a module that a model's module imports throws", async () => {
  const error = await failure({
    "keywright.config.ts": config,
    "models/user.ts": `import "../lib/broken.js";\n${user}`,
    "lib/broken.ts":
      "type A = 1;\nfunction fail(): never {\n  throw new RangeError();\n}\nfail();\n",
  });
  expect(error).toMatchObject({
    code: "KW_MODULE_FAILED",
    path: project?.path("models/user.ts"),
    at: `${project?.path("lib/broken.ts")}:3`,
  });
});

it("KW_MODULE_FAILED: a model's definition is refused", async () => {
  const error = await failure({
    "keywright.config.ts": config,
    "models/user.ts": user.replace('primaryKey: "id"', 'primaryKey: "uuid"'),
  });
  const at = `${project?.path("models/user.ts")}:4`;
  expect(error).toMatchObject({
    code: "KW_MODULE_FAILED",
    at,
    cause: { code: "KW_MODEL_INVALID" },
  });
});

it.each([
  ["./missing.json", /missing\.json/],
  ["./tsconfig.json", /Circularity/],
])("KW_TSCONFIG_INVALID: it extends %s", async (base, message) => {
  const tsconfig = JSON.stringify({ extends: base });
  const error = await failure({ "keywright.config.ts": config, "tsconfig.json": tsconfig });
  const path = project?.path("tsconfig.json");
  expect(error).toMatchObject({ code: "KW_TSCONFIG_INVALID", path });
  expect((error.cause as Error).message).toMatch(message);
});

it("KW_MODULE_MISSING: a path without a file", async () => {
  const text = 'export default { models: ["models/user.ts", "models/towns.ts"], output: "db" };';
  const error = await failure({ "keywright.config.ts": text, "models/user.ts": user });
  expect(error).toMatchObject({
    code: "KW_MODULE_MISSING",
    path: project?.path("models/towns.ts"),
  });
});

it("KW_MODULE_MISSING: a path of a folder", async () => {
  const text = 'export default { models: "models", output: "db" };';
  const error = await failure({ "keywright.config.ts": text, "models/user.ts": user });
  expect(error).toMatchObject({ code: "KW_MODULE_MISSING", path: project?.path("models") });
});

it("KW_MODELS_UNMATCHED: a pattern that matches nothing", async () => {
  const text = 'export default { models: ["models/*.ts", "tables/*.ts"], output: "db" };';
  const error = await failure({ "keywright.config.ts": text, "models/user.ts": user });
  const { folder } = project ?? {};
  expect(error).toMatchObject({ code: "KW_MODELS_UNMATCHED", patterns: ["tables/*.ts"], folder });
});

it("KW_MODELS_UNMATCHED: nothing is left", async () => {
  const text = 'export default { models: ["models/*.ts", "!models/user.ts"], output: "db" };';
  const error = await failure({ "keywright.config.ts": text, "models/user.ts": user });
  expect(error).toMatchObject({
    code: "KW_MODELS_UNMATCHED",
    patterns: ["models/*.ts", "!models/user.ts"],
  });
});

it("KW_MODULE_WITHOUT_MODEL: a module with no model", async () => {
  const named = 'export default { models: ["models/user.ts", "models/shared.ts"], output: "db" };';
  const error = await failure({
    "keywright.config.ts": named,
    "models/user.ts": user,
    "models/shared.ts": "export const b = 1;\nexport const a = { name: 'a', schema: {} };\n",
  });
  expect(error).toMatchObject({
    code: "KW_MODULE_WITHOUT_MODEL",
    path: project?.path("models/shared.ts"),
    exports: ["a", "b"],
  });
});

it("KW_MODEL_DUPLICATE: two models with one name", async () => {
  const error = await failure({
    "keywright.config.ts": config,
    "models/a.ts": user,
    "models/b.ts": modelModule("Person", "users"),
  });
  expect(error).toMatchObject({
    code: "KW_MODEL_DUPLICATE",
    model: "users",
    first: `User in ${project?.path("models/a.ts")}`,
    second: `Person in ${project?.path("models/b.ts")}`,
  });
});

it.each([
  ["files", "user-posts", modelModule("A", "user_posts"), modelModule("B", "userPosts")],
  ["types", "User", modelModule("User", "a"), modelModule("User", "b")],
  ["recursive types", "APartsRow", partsModule("A", "a", "partsRow"), modelModule("AParts", "b")],
  ["the index", "index", modelModule("A", "index"), user],
  ["the database", "database", modelModule("A", "database"), user],
])("KW_NAME_COLLISION: the names of %s", async (_, generatedName, first, second) => {
  const error = await failure({
    "keywright.config.ts": config,
    "models/first.ts": first,
    "models/second.ts": second,
  });
  expect(error).toMatchObject({ code: "KW_NAME_COLLISION", generatedName });
  const { first: one, second: other } = error as CodegenError & { first: string; second: string };
  expect(`${one}, ${other}`).toContain(project?.path("models/first.ts"));
  expect(one).not.toBe(other);
});

it.each([
  ['{ byId: { key: "id", unique: true } }', "findById", 'index "byId"', "the primary key"],
  [
    '{ email: { key: "email" }, byEmail: { key: "email" } }',
    "listByEmail",
    'index "byEmail"',
    'index "email"',
  ],
])("KW_NAME_COLLISION: the methods of %s", async (indexes, method, second, first) => {
  const error = await failure({
    "keywright.config.ts": config,
    "models/user.ts": modelModule("User", "users", indexes),
  });
  expect(error).toMatchObject({
    code: "KW_NAME_COLLISION",
    generatedName: `UserRepository.${method}`,
    first: `${first} of model "users"`,
    second: `${second} of model "users"`,
  });
});

it.each([
  ["a model that begins with a digit", modelModule("A", "2fa"), "2fa"],
  ["a model without letters", modelModule("A", "--"), "--"],
  ["an index", modelModule("A", "a", '{ "!": { key: "email" } }'), "!"],
  ["a field", modelModule("A", "a", '{ x: { key: "1 " } }').replace("email:", '"1 ":'), "1 "],
])("KW_NAME_UNUSABLE: the name of %s", async (_, text, givenName) => {
  const error = await failure({ "keywright.config.ts": config, "models/a.ts": text });
  expect(error).toMatchObject({ code: "KW_NAME_UNUSABLE", givenName });
});

it("KW_TYPE_INEXPRESSIBLE: further properties of another type", async () => {
  const error = await failure({
    "keywright.config.ts": config,
    "models/user.ts": user.replace("z.email() })", "z.email() }).catchall(z.number())"),
  });
  expect(error).toMatchObject({ code: "KW_TYPE_INEXPRESSIBLE", model: "users", path: "catchall" });
});

it("KW_OUTPUT_OCCUPIED and KW_OUTPUT_FAILED: what is in the way", async () => {
  const files = { "keywright.config.ts": config.replace('"db"', '"out"'), "models/user.ts": user };
  expect(await failure({ ...files, "out/index.ts": "" })).toMatchObject({
    code: "KW_OUTPUT_OCCUPIED",
    path: project?.path("out/index.ts"),
  });
  await project?.remove();
  expect(await failure({ ...files, out: "a file" })).toMatchObject({ code: "KW_OUTPUT_FAILED" });
  await project?.remove();
  project = await createProject(files);
  await mkdir(project.path("out/users.ts"), { recursive: true });
  await expect(generate({ folder: project.folder })).rejects.toMatchObject({
    code: "KW_OUTPUT_FAILED",
    path: project.path("out/users.ts"),
  });
});

/** A module with a model that has a field of a recursive type. */
function partsModule(exportName: string, name: string, field: string): string {
  return `import { defineModel } from "@keywright/orm";
import * as z from "zod";

const Part = z.object({ get parts() { return z.array(Part); } });

export const ${exportName} = defineModel({
  name: "${name}",
  schema: z.object({ id: z.ulid(), ${field}: Part }),
  primaryKey: "id",
});
`;
}

it("KW_MODEL_INVALID: two models whose entries would stand in the same place", async () => {
  const files = {
    "keywright.config.ts": config,
    "models/user.ts": modelModule("User", "users"),
    "models/other.ts": modelModule(
      "Other",
      "others",
      '{ byEmail: { key: "email", prefix: "users" } }',
    ),
  };
  project = await createProject(files);
  await expect(generate({ folder: project.folder })).rejects.toMatchObject({
    code: "KW_MODEL_INVALID",
    reason:
      'its keys would begin with "users", as those of others.indexes.byEmail; give it another prefix',
  });
  expect(await readdir(project.folder)).not.toContain("db");
});
