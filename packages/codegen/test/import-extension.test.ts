import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { importExtensionIn } from "../src/generate/import-extension.js";
import { generatedSpecifier, importSpecifier } from "../src/project/files/paths.js";
import { createProject, modelModule, type Project } from "./project.js";

const setting = (text: string) =>
  `export default { models: "models/*.ts", output: "db"${text} };\n`;
const allows = '{ "compilerOptions": { "allowImportingTsExtensions": true } }';

let project: Project;

beforeEach(async () => {
  project = await createProject({
    "keywright.config.ts": setting(""),
    "models/user.ts": modelModule("User", "users"),
  });
});
afterEach(() => project.remove());

describe("the extension of imports", () => {
  it.each([
    ["no tsconfig.json", {}, "js"],
    ["one that says nothing", { "tsconfig.json": "{}" }, "js"],
    ["allowImportingTsExtensions", { "tsconfig.json": allows }, "ts"],
    [
      "rewriteRelativeImportExtensions, among comments",
      {
        "tsconfig.json": `// "a"
{
  /* { */ "compilerOptions": {
    "allowImportingTsExtensions": false, // "https://example.org"
    "paths": { "a/*": ["./b/*"], },
    "rewriteRelativeImportExtensions": true,
  },
}`,
      },
      "ts",
    ],
    [
      "a base, and one of a package",
      {
        "tsconfig.json": '{ "extends": ["./lib/base", "./nowhere.json"] }',
        "lib/base.json": '{ "extends": "a-package/tsconfig.json" }',
        "lib/node_modules/a-package/tsconfig.json": allows,
      },
      "ts",
    ],
    [
      "a base that it overrides",
      {
        "tsconfig.json":
          '{ "extends": "./base.json", "compilerOptions": { "allowImportingTsExtensions": false } }',
        "base.json": allows,
      },
      "js",
    ],
    [
      "bases in a circle",
      {
        "tsconfig.json": '{ "extends": "./base.json" }',
        "base.json": '{ "extends": "./tsconfig.json", "compilerOptions": { "strict": true } }',
      },
      "js",
    ],
    [
      "one that refers to others, by that of the module",
      {
        "tsconfig.json":
          '{ "files": [], "references": [{ "path": "./node" }, { "path": "./tsconfig.app.json" }] }',
        "node/tsconfig.json": "{}",
        "node/a.ts": "",
        "tsconfig.app.json": allows.replace(/}$/, ', "include": ["models"] }'),
      },
      "ts",
    ],
    [
      "one that refers to others, of which none is for the module",
      {
        "tsconfig.json":
          '{ "files": [], "references": [{ "path": "./node" }, { "path": "./no" }] }',
        "node/tsconfig.json": allows,
      },
      "ts",
    ],
    [
      "one that refers to others, and is itself for the module",
      {
        "tsconfig.json":
          '{ "include": ["models"], "references": [{ "path": "./node" }, { "path": "." }] }',
        "node/tsconfig.json": allows,
      },
      "js",
    ],
    ["one that is broken", { "tsconfig.json": "{" }, "js"],
  ])("with %s", async (_, files, extension) => {
    await project.write(files as Record<string, string>);
    expect(await importExtensionIn(project.path("db"), project.path("models/user.ts"))).toBe(
      extension,
    );
  });

  it("is that of the built module, or the module's own", () => {
    const specifiers = ["a.ts", "a.tsx", "a.mts", "a.cts", "a.js"].map((name) => [
      importSpecifier("/db", `/models/${name}`),
      importSpecifier("/db", `/models/${name}`, "ts"),
    ]);
    expect(specifiers).toEqual([
      ["../models/a.js", "../models/a.ts"],
      ["../models/a.js", "../models/a.tsx"],
      ["../models/a.mjs", "../models/a.mts"],
      ["../models/a.cjs", "../models/a.cts"],
      ["../models/a.js", "../models/a.js"],
    ]);
    expect([generatedSpecifier("users"), generatedSpecifier("users", "ts")]).toEqual([
      "./users.js",
      "./users.ts",
    ]);
  });

  it("is what the configuration says, else what tsconfig.json does", async () => {
    const branded = modelModule("User", "users").replace("z.email()", 'z.email().brand<"E">()');
    await project.write({ "tsconfig.json": allows, "models/user.ts": branded });
    const imported = async () => {
      expect((await project.run(["generate"])).exitCode).toBe(0);
      const text = (await project.read("db/users.ts")) + (await project.read("db/index.ts"));
      return [...new Set([...text.matchAll(/from "(\..+?)"/g)].map((match) => match[1]))];
    };
    expect(await imported()).toEqual(["../models/user.ts", "./users.ts"]);
    await project.write({ "keywright.config.ts": setting(', importExtension: "js"') });
    expect(await imported()).toEqual(["../models/user.js", "./users.js"]);
  });

  it("is one of two", async () => {
    await project.write({ "keywright.config.ts": setting(', importExtension: "mjs"') });
    const { exitCode, stderr } = await project.run(["generate"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('keywright.config.ts: importExtension: it is neither "js" nor "ts";');
  });
});
