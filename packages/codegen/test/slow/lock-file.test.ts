import { readdir, stat, utimes } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { config, createProject, modelModule, type Project } from "../project.js";

const lock = "keywright.lock.json";

/** The module of a model with something of everything whose order could matter. */
function taskModule(name: string, fields: readonly string[], indexes: readonly string[]): string {
  return `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const Task = defineModel({
  name: ${JSON.stringify(name)},
  schema: z.object({ ${fields.join(", ")} }),
  primaryKey: "id",
  indexes: { ${indexes.join(", ")} },
});
`;
}

const fields = [
  "id: z.ulid()",
  'title: z.string().default("none")',
  "done: z.boolean().optional()",
  "place: z.object({ street: z.string(), city: z.string(), floor: z.int().optional() })",
];
const indexes = ['byTitle: { key: "title", count: true }', 'byDone: { key: "done", count: true }'];

let project: Project;

beforeEach(async () => {
  project = await createProject({
    "keywright.config.ts": config,
    "models/a.ts": taskModule("tasks", fields, indexes),
    "models/b.ts": modelModule("User", "users"),
  });
});
afterEach(() => project.remove());

describe("keywright.lock.json", () => {
  it("is created with the schema of every model, and is fresh then", async () => {
    const { exitCode, stdout } = await project.run(["generate"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`created  ${lock}\n`);
    const text = await project.read(lock);
    expect(text.endsWith("}\n")).toBe(true);
    const { format, models } = JSON.parse(text);
    expect(format).toBe(1);
    expect(Object.keys(models)).toEqual(["tasks", "users"]);
    expect(Object.keys(models.tasks.row.fields)).toEqual(["done", "id", "place", "title"]);
    expect(models.tasks).toMatchObject({
      prefix: "tasks",
      row: {
        primaryKey: ["id"],
        fields: {
          title: { schema: { type: "string" }, optional: false, defaulted: true },
          done: { schema: { type: "boolean" }, optional: true, defaulted: false },
        },
      },
      indexes: { byDone: { fields: ["done"] }, byTitle: { fields: ["title"], unique: false } },
      counters: ["byDone", "byTitle"],
    });
    expect((await project.run(["generate", "--check"])).exitCode).toBe(0);
  });

  it("is left as it is where the schema does not change", async () => {
    await project.run(["generate"]);
    const past = new Date(1_000_000_000_000);
    await utimes(project.path(lock), past, past);
    await project.run(["generate"]);
    expect((await stat(project.path(lock))).mtime).toEqual(past);
  });

  it("alone is stale where only the schema's data change, with 3 from --check, and is updated", async () => {
    await project.run(["generate"]);
    const before = await project.read(lock);
    // Neither a type nor a method is of it.
    const longer = fields.map((field) => field.replace("z.string()", "z.string().min(2)"));
    await project.write({ "models/a.ts": taskModule("tasks", longer, indexes) });
    const checked = await project.run(["generate", "--check"]);
    expect(checked).toMatchObject({
      exitCode: 3,
      stdout: `stale    ${lock}\n1 file is not up to date. To update:\n  npx keywright generate\n`,
    });
    expect(await project.read(lock)).toBe(before);
    const { stdout } = await project.run(["generate"]);
    expect(stdout).toBe(`updated  ${lock}\n2 models: 1 file written, 3 unchanged.\n`);
    const { title } = JSON.parse(await project.read(lock)).models.tasks.row.fields;
    expect(title.schema).toEqual({ type: "string", minLength: 2 });
  });

  it("is stale where it was changed by hand, and written as it was", async () => {
    await project.run(["generate"]);
    const text = await project.read(lock);
    await project.write({ [lock]: text.replace("boolean", "string") });
    const { exitCode, stdout } = await project.run(["generate", "--check"]);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 3 });
    expect(stdout).toContain(`stale    ${lock}\n`);
    await project.run(["generate"]);
    expect(await project.read(lock)).toBe(text);
  });

  it("is fresh after a checkout that turned its line ends into the system's", async () => {
    await project.run(["generate"]);
    const checkedOut = (await project.read(lock)).replaceAll("\n", "\r\n");
    await project.write({ [lock]: checkedOut });
    const { exitCode, stdout } = await project.run(["generate", "--check"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "4 files are up to date.\n" });
    await project.run(["generate"]);
    expect(await project.read(lock)).toBe(checkedOut);
  });

  it("is fresh in whatever way a formatter leaves it", async () => {
    await project.run(["generate"]);
    const formatted = JSON.stringify(JSON.parse(await project.read(lock)), null, "\t");
    await project.write({ [lock]: formatted });
    expect((await project.run(["generate", "--check"])).exitCode).toBe(0);
    await project.run(["generate"]);
    expect(await project.read(lock)).toBe(formatted);
  });

  it("is the same for every order of models, fields, indexes and what is within fields", async () => {
    await project.run(["generate"]);
    const text = await project.read(lock);
    const reversed = fields.map((field) =>
      field.startsWith("place")
        ? "place: z.object({ floor: z.int().optional(), city: z.string(), street: z.string() })"
        : field,
    );
    await project.write({
      "keywright.config.ts":
        'export default { models: ["models/b.ts", "models/a.ts"], output: "db" };\n',
      "models/a.ts": modelModule("User", "users"),
      "models/b.ts": taskModule("tasks", [...reversed].reverse(), [...indexes].reverse()),
    });
    await project.run(["generate"]);
    expect(await project.read(lock)).toBe(text);
  });
});

describe("a keywright.lock.json that is not this version's", () => {
  const isOther = "it is no lock file of Keywright's";

  it.each([
    [
      "of a later format",
      '{ "format": 2, "tables": [] }',
      "it is of format 2, which a later version writes",
    ],
    ["of another program", '{ "name": "app", "lockfileVersion": 3 }', isOther],
    ["of a format that never was", '{ "format": 0 }', isOther],
    ["null", "null", isOther],
    ["no JSON, as after a merge", '<<<<<<< HEAD\n{ "format": 1 }\n', isOther],
    ["empty", "", isOther],
  ])("%s is refused, and nothing is written", async (_, text, reason) => {
    await project.write({ [lock]: text });
    for (const args of [["generate"], ["generate", "--check"]]) {
      const { exitCode, stdout, stderr } = await project.run(args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toContain(`KW_LOCK_FILE: ${lock}: ${reason};`);
    }
    expect(await project.read(lock)).toBe(text);
    await expect(stat(project.path("db"))).rejects.toThrow();
  });

  it("is refused before the files of the models change", async () => {
    await project.run(["generate"]);
    const before = await project.read("db/users.ts");
    await project.write({
      [lock]: '{ "format": 2 }',
      "models/b.ts": modelModule("User", "users", '{ byEmail: { key: "email" } }'),
    });
    expect((await project.run(["generate"])).exitCode).toBe(1);
    expect(await project.read("db/users.ts")).toBe(before);
  });

  it("is refused where it cannot be read, with the cause", async () => {
    await project.write({ [`${lock}/file`]: "" });
    const { exitCode, stderr } = await project.run(["generate"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/KW_LOCK_FILE: .*: it cannot be read; .*\n {2}cause: Error: EISDIR/);
    expect(await readdir(project.folder)).not.toContain("db");
  });
});
