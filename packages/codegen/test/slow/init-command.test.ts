import { execFile } from "node:child_process";
import { mkdir, readdir, rm, symlink } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeWithSqlite } from "../../../../scripts/with-sqlite.mjs";
import { ProjectFileError } from "../../src/errors/codegen-errors.js";
import { addScripts } from "../../src/init/package-scripts.js";
import { writeFiles } from "../../src/project/files/write-files.js";
import { typescript } from "../compile.js";
import { createProject, modelModule, type Project } from "../project.js";

let project: Project;

beforeEach(async () => {
  project = await createProject({});
});

afterEach(() => project.remove());

/** The names of all files but those of packages, in their order. */
async function names(folder = project.folder): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const nested = entries.map(async (entry) => {
    if (entry.name === "node_modules" || entry.name === ".git") return [];
    if (!entry.isDirectory()) return [entry.name];
    const within = await names(join(folder, entry.name));
    return within.map((name) => `${entry.name}/${name}`);
  });
  return (await Promise.all(nested)).flat().sort();
}

describe("keywright init", () => {
  it("makes a project of an empty folder, of which the code is generated and compiles", async () => {
    await rm(project.path("package.json"));
    const { exitCode, stdout, stderr } = await project.run(["init", "--yes"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(await names()).toEqual([
      "keywright.config.ts",
      "package.json",
      "src/main.ts",
      "src/models/user.ts",
      "tsconfig.json",
    ]);
    expect(await project.read("keywright.config.ts")).toContain('openKv("data/app")');
    expect(JSON.parse(await project.read("package.json"))).toMatchObject({
      private: true,
      type: "module",
      scripts: { "db:generate": "keywright generate", "db:migrate": "keywright migrate run" },
    });
    expect(stdout).toContain("created src/models/user.ts\n");
    expect(stdout).toContain("\n  npm install @keywright/core @keywright/orm zod\n");
    expect(stdout).toContain("\n  npm install -D @keywright/codegen typescript @types/node\n");
    expect(stdout).toContain("\n  npx keywright generate\n");

    expect((await project.run(["generate"])).exitCode).toBe(0);
    expect(JSON.parse(await project.read("tsconfig.json"))).toMatchObject({
      compilerOptions: { types: ["node"] },
    });
    expect(stdout).toMatch(
      (process.features as { typescript?: unknown }).typescript
        ? /\n {2}node src\/main.ts\n$/
        : /\n {2}npx tsc\n {2}node dist\/main.js\n$/,
    );
    await promisify(execFile)(process.execPath, [typescript], { cwd: project.folder });
    expect(await readdir(project.path("dist/db"))).toContain("users.js");
  });

  it("opens an SQLite file if it is named, and the program and the commands use it", async () => {
    const args = ["--database", "sqlite:./data/app.sqlite"];
    await rm(project.path("package.json"));
    await mkdir(project.path(".git"));
    const { exitCode, stdout, stderr } = await project.run(["init", "--yes", ...args]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain(
      isBuiltin("node:sqlite")
        ? "\n  npm install @keywright/sqlite\n"
        : "\n  npm install @keywright/sqlite better-sqlite3@12\n",
    );
    expect(await project.read(".gitignore")).toBe("/node_modules/\n/dist/\n/data/app.sqlite*\n");

    expect((await project.run(["generate"])).exitCode).toBe(0);
    await promisify(execFile)(process.execPath, [typescript], { cwd: project.folder });
    const run = (...args: string[]) =>
      promisify(execFile)(nodeWithSqlite(), args, { cwd: project.folder });
    expect((await run("dist/main.js")).stdout).toContain("name: 'Ada'");
    expect((await run("dist/main.js")).stdout).toContain("name: 'Ada'");
    const keywright = fileURLToPath(new URL("../../bin/keywright.js", import.meta.url));
    expect((await run(keywright, "verify")).stdout).toContain("1 row");
  });

  it("installs no package that the package.json names", async () => {
    const dependencies = { "@keywright/sqlite": "0.1.0", "better-sqlite3": "12", zod: "4" };
    await project.write({ "package.json": JSON.stringify({ type: "module", dependencies }) });
    const { stdout } = await project.run(["init", "--yes", "--database", "sqlite:a.sqlite"]);
    expect(stdout).toContain("\n  npm install @keywright/core @keywright/orm\n");
    expect(stdout).not.toContain("sqlite3");
    expect(stdout).not.toContain("@keywright/sqlite\n");
  });

  it("leaves alone what is there: order, indentation, scripts, models", async () => {
    const before = {
      "package.json":
        '{\r\n\t"name": "shop",\r\n\t"scripts": {\r\n\t\t"db:generate": "drizzle-kit generate",\r\n\t\t"test": "x"\r\n\t},\r\n\t"files": ["a", "b"],\r\n\t"type": "module",\r\n\t"dependencies": { "zod": "4", "@keywright/core": "0.1.0" }\r\n}',
      "tsconfig.json": "{ /* mine */ }",
      ".gitignore": "node_modules\nbuild",
      "src/models/city.ts": modelModule("City", "cities"),
      "src/db/index.ts": "export const mine = 1;\n",
      "pnpm-lock.yaml": "",
    };
    await project.write(before);
    const { exitCode, stdout } = await project.run(["init", "--yes"]);
    expect(exitCode).toBe(0);
    expect(await project.read("package.json")).toBe(
      before["package.json"].replace(
        '"test": "x"',
        '"test": "x",\r\n\t\t"keywright:generate": "keywright generate",\r\n\t\t"db:migrate": "keywright migrate run"',
      ),
    );
    expect(await project.read(".gitignore")).toBe("node_modules\nbuild\n/data/app/\n");
    for (const name of ["tsconfig.json", "src/models/city.ts", "src/db/index.ts"] as const) {
      expect(await project.read(name)).toBe(before[name]);
    }
    expect(await names()).toEqual([...Object.keys(before), "keywright.config.ts"].sort());
    const config = await project.read("keywright.config.ts");
    expect(config).toContain('models: "src/models/*.ts"');
    expect(config).toContain('output: "src/keywright/db"');
    expect(stdout).toContain("\n  pnpm add @keywright/orm\n");
    expect((await project.run(["generate"])).exitCode).toBe(0);
  });

  it("makes its own folder of models where another library has one", async () => {
    await project.write({ "src/models/user.ts": "export class User {}\n" });
    await project.run(["init", "--yes"]);
    expect(await project.read("keywright.config.ts")).toContain('"src/keywright/models/*.ts"');
    expect(await project.read("src/models/user.ts")).toBe("export class User {}\n");
    expect((await project.run(["generate"])).exitCode).toBe(0);
  });

  it.each([
    ["a file in their place", "src/models", '"src/keywright/models/*.ts"'],
    ["a folder with the name of a module", "src/models/user.ts/index.html", '"src/keywright/'],
  ])("finds other models' folder where there is %s", async (_, name, models) => {
    await project.write({ [name]: "" });
    const { exitCode, stderr } = await project.run(["init", "--yes"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(await project.read("keywright.config.ts")).toContain(models);
  });

  it("takes no notice of a link that leads to nothing", async () => {
    await project.write({ "src/models/city.ts": modelModule("City", "cities") });
    await symlink("nowhere.ts", project.path("src/models/a.ts"));
    const { exitCode, stderr } = await project.run(["init", "--yes"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(await project.read("keywright.config.ts")).toContain('"src/models/*.ts"');
  });

  it("fails where the folder of the models is named, and is a file", async () => {
    await project.write({ "src/models": "" });
    const { exitCode, stderr } = await project.run(["init", "--yes", "--models", "src/models"]);
    expect(stderr).toContain("KW_PROJECT_FILE");
    expect(stderr).toContain(": src/models: the file cannot be read");
    expect(exitCode).toBe(1);
  });

  it("takes answers from the command line, and makes the folder that it names", async () => {
    const args = ["--models", "./lib/models/", "--output", "lib/db", "--database", "/var/shop"];
    const { exitCode, stdout } = await project.run(["init", "shop", "--yes", ...args]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("\n  cd shop\n");
    expect(await project.read("shop/src/main.ts")).toContain('from "../lib/db/index.ts"');
    expect(stdout).toMatch(/node (src\/main.ts|dist\/src\/main.js)\n$/);
    const config = await project.read("shop/keywright.config.ts");
    expect(config).toContain('models: "lib/models/*.ts"');
    expect(config).toContain('output: "lib/db"');
    expect(config).toContain('openKv("/var/shop")');
    expect(JSON.parse(await project.read("shop/tsconfig.json"))).toMatchObject({
      compilerOptions: { rootDir: "." },
      include: ["src", "lib"],
    });
    expect(JSON.parse(await project.read("shop/package.json"))).toMatchObject({ name: "shop" });
  });

  it("makes a .gitignore in a Git repository only", async () => {
    await mkdir(project.path(".git"));
    await project.run(["init", "app", "--yes", "--database", "./data/app/"]);
    expect(await project.read("app/.gitignore")).toBe("/node_modules/\n/dist/\n/data/app/\n");
  });

  it("adds no line to a .gitignore that has the folder already", async () => {
    await project.write({ ".gitignore": "# mine\ndata/\n" });
    await project.run(["init", "--yes"]);
    expect(await project.read(".gitignore")).toBe("# mine\ndata/\n");
  });

  it.each(["ts", "mjs"])("does nothing where there is a keywright.config.%s", async (extension) => {
    await project.write({ [`keywright.config.${extension}`]: "export default 1;\n" });
    const before = await names();
    const { exitCode, stdout, stderr } = await project.run(["init", "--yes"]);
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("KW_PROJECT_CONFIGURED");
    expect(stderr).toContain(
      `: keywright.config.${extension}: the project already has a configuration;`,
    );
    expect(await names()).toEqual(before);
  });

  it.each([
    { args: [], fault: "there is no terminal for questions: use --yes" },
    { args: ["--yes", "--models", "src/*.ts"], fault: "--models 'src/*.ts': Enter a folder" },
    { args: ["--yes", "--output", "../db"], fault: "--output '../db': The folder must be inside" },
    {
      args: ["--yes", "--models", "."],
      fault: "--models '.': The folder must not be that of the project itself.",
    },
    {
      args: ["--yes", "--database", "postgres://localhost/app"],
      fault: "Enter a folder, or sqlite: and a file.",
    },
    { args: ["--yes", "--database", "sqlite:"], fault: "Enter a folder, or sqlite: and a file." },
    { args: ["--yes", "--models", "a", "--output", "./a"], fault: "must be in different folders" },
  ])("with $args is a usage error, and writes nothing", async ({ args, fault }) => {
    const { exitCode, stderr } = await project.run(["init", ...args]);
    expect(stderr).toContain(fault);
    expect(exitCode).toBe(2);
    expect(await names()).toEqual(["package.json"]);
  });

  it.each([
    { name: "a broken package.json", files: { "package.json": "{ nothing" }, at: "package.json" },
    { name: "one that is a list", files: { "package.json": "[]" }, at: "package.json" },
    { name: "a file in the way of a folder", files: { src: "" }, at: "src/models/user.ts" },
  ])("writes nothing where it finds $name", async ({ files, at }) => {
    await project.write(files);
    const before = await names();
    const { exitCode, stderr } = await project.run(["init", "--yes"]);
    expect(stderr).toContain("KW_PROJECT_FILE");
    expect(stderr.replaceAll("\\", "/")).toContain(`KW_PROJECT_FILE: ${at}: `);
    expect(exitCode).toBe(1);
    expect(await names()).toEqual(before);
  });

  it("removes what it has made when a file cannot be written", async () => {
    const before = await project.read("package.json");
    const file = (name: string) =>
      ({ path: project.path(name), state: "created", text: "" }) as const;
    const files = [
      { ...file("package.json"), state: "changed" } as const,
      file("src/models/user.ts"),
      // A file is in the way of its folder.
      file("package.json/keywright.config.ts"),
    ];
    const writing = writeFiles(files, (path, cause) => new ProjectFileError({ path }, cause));
    await expect(writing).rejects.toMatchObject({ code: "KW_PROJECT_FILE" });
    expect(await project.read("package.json")).toBe(before);
    expect(await readdir(project.folder)).toEqual(["node_modules", "package.json"]);
  });

  const tsconfig = (module: string) =>
    JSON.stringify({
      compilerOptions: {
        module,
        target: "es2023",
        rootDir: "src",
        outDir: "dist",
        types: ["node"],
      },
      include: ["src"],
    });

  it.each([
    {
      name: "with a program in ES modules",
      files: { "tsconfig.json": tsconfig("nodenext"), "src/server.ts": "export {};\n" },
      place: "a program such as src/main.ts",
    },
    {
      name: "with a program in CommonJS",
      files: {
        "package.json": "{}\n",
        "tsconfig.json": tsconfig("commonjs"),
        "src/main.ts": "export {};\n",
      },
      place: "a module in src",
    },
    {
      name: "with a program in JavaScript",
      files: { "index.js": "" },
      place: "a program such as src/main.ts",
    },
    {
      name: "with models only",
      files: { "src/models/city.ts": modelModule("City", "cities") },
      place: "a program such as src/main.ts",
    },
  ])("prints a program that compiles and runs in a project $name", async ({ files, place }) => {
    await project.write(files as Record<string, string>);
    const { stdout } = await project.run(["init", "--yes"]);
    expect((await project.run(["generate"])).exitCode).toBe(0);
    const [, program = ""] = stdout.split(`\nThen, in ${place}:\n`);
    const end = "openRepositories(kv);";
    const running = `${end} console.log(Object.keys(db)[0]); await kv.close();`;
    const call = program.includes("main()") ? "void main();" : "";
    await project.write({ "src/main.ts": `${program.replace(end, running)}${call}` });
    await promisify(execFile)(process.execPath, [typescript], { cwd: project.folder });
    const main = project.path("dist/main.js");
    const printed = await promisify(execFile)(process.execPath, [main], { cwd: project.folder });
    expect(printed.stdout).toMatch(/^(users|cities)\n$/);
  });

  it("prints no program that cannot run: for JavaScript in CommonJS", async () => {
    await project.write({ "package.json": "{}\n", "index.js": "" });
    const { stdout } = await project.run(["init", "--yes"]);
    expect(stdout).toMatch(/\n {2}npx keywright generate\n$/);
    expect(await names()).not.toContain("tsconfig.json");
  });

  it("writes no tsconfig.json if a folder above has one", async () => {
    await project.write({ "tsconfig.json": "{}", "app/package.json": '{ "type": "module" }\n' });
    await project.write({ "app/index.js": "" });
    await project.run(["init", "app", "--yes"]);
    expect(await names(project.path("app"))).not.toContain("tsconfig.json");
  });

  it("says what a project of CommonJS has to do", async () => {
    await project.write({ "package.json": "{}\n", "index.js": "" });
    const { stdout } = await project.run(["init", "--yes"]);
    const [, note = ""] = /\n\n(package.json .+?)\n\n/s.exec(stdout) ?? [];
    expect(note.replaceAll(/\s+/g, " ")).toContain("npm pkg set type=module");
    for (const line of note.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(JSON.parse(await project.read("package.json"))).not.toHaveProperty("type");
  });

  it.each([
    { name: "sets the type of a folder without a program", files: {}, args: [], type: "module" },
    { name: "keeps the type with --no-esm", files: {}, args: ["--no-esm"], type: "commonjs" },
    { name: "sets it with --esm", files: { "index.js": "" }, args: ["--esm"], type: "module" },
  ])("$name", async ({ files, args, type }) => {
    const before = '{ "exports": { "type": "a" }, "type": "commonjs", "name": "b" }\n';
    await project.write({ "package.json": before, ...files });
    expect((await project.run(["init", "--yes", ...args])).exitCode).toBe(0);
    const after = await project.read("package.json");
    expect(after).toContain(`{ "exports": { "type": "a" }, "type": "${type}", "name": "b", `);
  });
});

describe("scripts that are added to a package.json", () => {
  const scripts = { "db:generate": "keywright generate" };

  it.each([
    ["{}", '{ "scripts": { "db:generate": "keywright generate" } }'],
    ["{}\n", '{ "scripts": { "db:generate": "keywright generate" } }\n'],
    ['{ "name": "a" }\n', '{ "name": "a", "scripts": { "db:generate": "keywright generate" } }\n'],
    [
      '{\n    "scripts": {},\n    "name": "a"\n}\n',
      '{\n    "scripts": {\n        "db:generate": "keywright generate"\n    },\n    "name": "a"\n}\n',
    ],
    [
      '{\n  "a": { "scripts": {} },\n  "b": "\\"scripts\\": {"\n}',
      '{\n  "a": { "scripts": {} },\n  "b": "\\"scripts\\": {",\n  "scripts": {\n    "db:generate": "keywright generate"\n  }\n}',
    ],
  ])("change nothing else of %j", (before, after) => {
    expect(addScripts(before, scripts)).toBe(after);
  });

  it("are in whatever is JSON, with all that was in it", () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    const withScripts = fc.record({ scripts: fc.dictionary(fc.string(), fc.string()) });
    const texts = fc
      .tuple(json, fc.option(withScripts), fc.constantFrom(undefined, 2, 4, "\t"))
      .map(([value, more, indent]) => {
        const { scripts: _, ...others } = value;
        return JSON.stringify({ ...others, ...more }, null, indent);
      });
    fc.assert(
      fc.property(texts, (text) => {
        const before = JSON.parse(text) as { scripts?: Record<string, string> };
        const after = JSON.parse(addScripts(text, scripts)) as unknown;
        expect(after).toEqual({ ...before, scripts: { ...before.scripts, ...scripts } });
      }),
    );
  });
});
