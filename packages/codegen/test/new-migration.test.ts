import { createDatabase, defineModel, type Model } from "@keywright/orm";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { compile } from "./compile.js";
import { playersConfig, playersModule, withDatabase } from "./players-project.js";
import { createProject, type Project } from "./project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

/**
 * A project whose database has a row of one schema, and whose model has the one that is written
 * here.
 */
async function changedProject(
  before: z.ZodObject,
  row: Readonly<Record<string, unknown>>,
  now: string,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  project = await createProject({
    "keywright.config.ts": playersConfig(),
    "models/player.ts": playersModule("{}", now),
    ...files,
  });
  await store([defineModel({ name: "players", schema: before, primaryKey: "id" } as never)], row);
}

async function store(
  models: readonly Model[],
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  await withDatabase(project, async (kv) => {
    const named = Object.fromEntries(models.map((model) => [model.name, model]));
    const db = await createDatabase({ kv, models: named });
    await db.players?.create({ data: row } as never);
  });
}

/** The rows of `players` as they are stored. */
async function storedRows(): Promise<unknown[]> {
  return await withDatabase(project, async (kv) => {
    const rows: unknown[] = [];
    for await (const { value } of kv.list({ prefix: ["players"] })) rows.push(value);
    return rows;
  });
}

/** Puts a migration into the configuration. */
async function addMigration(name: string, file: string): Promise<void> {
  const imports = `import { ${name} } from "./${file}";`;
  await project.write({ "keywright.config.ts": playersConfig(`migrations: [${name}],`, imports) });
}

const id = z.string();

describe("keywright migrate new", () => {
  it("writes a rename whole: it compiles, and migrates there and back without an edit", async () => {
    await changedProject(
      z.object({ id, name: z.string().min(1), level: z.int().default(1) }),
      { id: "1", name: "Ada" },
      "z.object({ id: z.string(), fullName: z.string().min(1), level: z.int().default(1) })",
    );
    const plan = await project.run(["migrate", "plan"]);
    expect(plan.stdout).toContain("npx keywright migrate new <name>");
    const made = await project.run(["migrate", "new", "full names"]);
    expect(made).toMatchObject({ exitCode: 0, stderr: "" });
    expect(made.stdout).toContain("migrations/full-names.ts was written.");
    expect(made.stdout).toContain("Add fullNames to `migrations` in keywright.config.ts");
    expect(made.stdout).not.toContain("TODO");
    expect(await project.read("migrations/full-names.ts")).toBe(renameModule);
    expect(compile([project.path("migrations/full-names.ts")])).toEqual([]);

    await addMigration("fullNames", "migrations/full-names.ts");
    expect((await project.run(["migrate", "run", "--dry-run"])).exitCode).toBe(0);
    expect((await project.run(["migrate", "run"])).exitCode).toBe(0);
    expect(await storedRows()).toEqual([{ id: "1", fullName: "Ada", level: 1 }]);

    const back = "z.object({ id: z.string(), name: z.string().min(1), level: z.int().default(1) })";
    await project.write({ "models/player.ts": playersModule("{}", back) });
    expect((await project.run(["migrate", "rollback", "--accept-all"])).exitCode).toBe(0);
    expect(await storedRows()).toEqual([{ id: "1", name: "Ada", level: 1 }]);
  });

  it("does not compile at exactly the values that have to be written", async () => {
    await changedProject(
      z.object({ id, name: z.string(), score: z.string(), nick: z.string().optional() }),
      { id: "1", name: "Ada L", score: "7" },
      "z.object({ id: z.string(), first: z.string(), last: z.string(), score: z.int(), nick: z.string(), tags: z.array(z.string()).optional() })",
    );
    const made = await project.run(["migrate", "new", "two names", "--json"]);
    const path = project.path("migrations/two-names.ts");
    expect(JSON.parse(made.stdout).result).toEqual({
      path,
      model: "players",
      exportName: "twoNames",
      toWrite: {
        from: [],
        to: [],
        up: ["first", "last", "nick", "score"],
        down: ["name", "score"],
      },
    });
    const lines = (await project.read("migrations/two-names.ts")).split("\n");
    const faults = compile([path]).map((fault) => {
      const [, line, message] = /:(\d+): (.*)$/.exec(fault) ?? [];
      return `${lines[Number(line) - 1]?.trim()} ${message}`;
    });
    expect(faults).toEqual([
      "first: TODO, Cannot find name 'TODO'.",
      "last: TODO, Cannot find name 'TODO'.",
      "nick: nick ?? TODO, Cannot find name 'TODO'.",
      "score: TODO, Cannot find name 'TODO'.",
      "name: TODO, Cannot find name 'TODO'.",
      "score: TODO, Cannot find name 'TODO'.",
    ]);

    const values = [
      "name.split(' ')[0]!",
      "name.split(' ')[1]!",
      '""',
      "Number(score)",
      "first",
      "String(score)",
    ];
    const text = lines.join("\n").replaceAll("TODO,", () => `${values.shift()},`);
    await project.write({ "migrations/two-names.ts": text.replace(/^\/\/ Write the .*$/m, "") });
    expect(compile([path])).toEqual([]);
    await addMigration("twoNames", "migrations/two-names.ts");
    expect((await project.run(["migrate", "run"])).exitCode).toBe(0);
    expect(await storedRows()).toEqual([{ id: "1", first: "Ada", last: "L", score: 7, nick: "" }]);
  });

  it("leaves new fields with defaults to the schema, and those that it cannot write to the model", async () => {
    await changedProject(
      z.strictObject({ id, name: z.string(), rank: z.int().optional() }),
      { id: "1", name: "Ada" },
      `z.strictObject({
        id: z.string(),
        rank: z.int().default(2),
        fullName: z.int(),
        level: z.int().default(3),
        madeAt: z.date().default(() => new Date()),
        token: z.string().default(() => String(Math.random())),
      })`,
    );
    await project.run(["migrate", "new", "names"]);
    const text = await project.read("migrations/names.ts");
    expect(text).toContain("to: z.strictObject({");
    expect(text).toContain("level: z.int().default(3),");
    expect(text).toContain("madeAt: z.date().default(() => new Date()),");
    expect(text).toContain('// The model fills in the fields that `to` lacks: "token".');
    expect(text).toContain("...row,\n    fullName: TODO,");
    await project.write({
      "migrations/names.ts": text.replace("fullName: TODO", "fullName: name.length"),
    });
    await addMigration("names", "migrations/names.ts");
    expect((await project.run(["migrate", "run"])).exitCode).toBe(0);
    expect(await storedRows()).toEqual([
      {
        id: "1",
        fullName: 3,
        rank: 2,
        level: 3,
        madeAt: expect.any(Date),
        token: expect.any(String),
      },
    ]);
  });

  it("takes any names: of fields, of itself, and of models that are exported as default", async () => {
    await changedProject(
      z.object({
        id,
        'it\'s "a"\u2028': z.string(),
        class: z.string(),
        row: z.int(),
        TODO: z.int(),
        größe: z.int(),
        "*/": z.string(),
      }),
      { id: "1", 'it\'s "a"\u2028': "x", class: "y", row: 1, TODO: 2, größe: 3, "*/": "" },
      'z.object({ id: z.string(), "a\\u2028b": z.int().optional() })',
    );
    const module = await project.read("models/player.ts");
    await project.write({
      "models/player.ts": module.replace("export const Player =", "export default"),
    });
    const name = '2026 Größe\'s "full"\u2028 */ names';
    const made = await project.run(["migrate", "new", name]);
    expect(made.exitCode).toBe(0);
    expect(made.stdout).toContain("migrations/2026-größe-s-full-names.ts");
    const path = project.path("migrations/2026-größe-s-full-names.ts");
    const text = await project.read("migrations/2026-größe-s-full-names.ts");
    expect(text).toContain('import Players from "../models/player.js";');
    expect(text).toContain("export const migration2026GrößeSFullNames =");
    expect([...new Set(compile([path]).map((fault) => fault.replace(/^.*: /, "")))]).toEqual([
      "Cannot find name 'TODO'.",
    ]);
    const kept = text.replace(/,\n {2}down: [\s\S]*?\n {2}}\),/, ",");
    await project.write({ "migrations/2026-größe-s-full-names.ts": kept });
    await addMigration("migration2026GrößeSFullNames", "migrations/2026-größe-s-full-names.ts");
    expect((await project.run(["migrate", "run"])).exitCode).toBe(0);
    expect(await storedRows()).toEqual([{ id: "1" }]);
  });

  it("writes where --out says, and never over what is there", async () => {
    await changedProject(z.object({ id, name: z.string() }), { id: "1", name: "Ada" }, renamed);
    const args = ["migrate", "new", "names", "--out", "src/deep/one.ts"];
    expect((await project.run(args)).exitCode).toBe(0);
    const text = await project.read("src/deep/one.ts");
    expect(text).toContain('from "../../models/player.js"');
    const again = await project.run(args);
    expect(again).toMatchObject({ exitCode: 1, stdout: "" });
    expect(again.stderr).toContain(
      "The file already exists and was not changed. Choose another name or --out",
    );
    expect(await project.read("src/deep/one.ts")).toBe(text);
    await project.write({ "migrations/names.ts": "mine" });
    expect((await project.run(["migrate", "new", "names"])).exitCode).toBe(1);
    expect(await project.read("migrations/names.ts")).toBe("mine");
    const within = await project.run(["migrate", "new", "names", "--out", "package.json/one.ts"]);
    expect(within.exitCode).toBe(1);
    expect(within.stderr).toContain("KW_FILE_FAILED");
    expect(within.stderr).not.toContain("fault in keywright");
  });

  it("imports by .ts where the configuration says so", async () => {
    await changedProject(z.object({ id, name: z.string() }), { id: "1", name: "Ada" }, renamed, {
      "keywright.config.ts": playersConfig('importExtension: "ts",'),
    });
    expect((await project.run(["migrate", "new", "names"])).exitCode).toBe(0);
    expect(await project.read("migrations/names.ts")).toContain('from "../models/player.ts"');
  });

  it("says that there is nothing to write where rows are as they were, and where a migration leads there", async () => {
    await changedProject(z.object({ id, name: z.string() }), { id: "1", name: "Ada" }, renamed);
    await project.run(["migrate", "new", "names"]);
    await addMigration("names", "migrations/names.ts");
    const none = await project.run(["migrate", "new", "more"]);
    expect(none.stdout).toContain("Nothing was written.");
    expect(none.exitCode).toBe(1);
    await project.run(["migrate", "run"]);
    const json = await project.run(["migrate", "new", "more", "--json"]);
    expect(JSON.parse(json.stdout).result).toMatchObject({
      path: null,
      reason: expect.any(String),
    });
  });

  it("writes none for another primary key", async () => {
    await changedProject(
      z.object({ id, name: z.string() }),
      { id: "1", name: "Ada" },
      "z.object({ id: z.int(), name: z.string() })",
    );
    const refused = await project.run(["migrate", "new", "keys"]);
    expect(refused.stdout).toContain(
      "The primary key of players has changed, and a migration cannot change its values",
    );
    expect(refused.exitCode).toBe(1);
  });

  it("asks for the model where several have changed, and refuses what is none", async () => {
    const team = playersModule("{}", renamed)
      .replaceAll("players", "teams")
      .replace("Player", "Team");
    project = await createProject({
      "keywright.config.ts": playersConfig(),
      "models/player.ts": playersModule("{}", renamed),
      "models/team.ts": team,
    });
    const schema = z.object({ id, name: z.string() });
    const models = ["players", "teams"].map((name) =>
      defineModel({ name, schema, primaryKey: "id" }),
    );
    await store(models as unknown as Model[], { id: "1", name: "Ada" });
    const several = await project.run(["migrate", "new", "names"]);
    expect(several).toMatchObject({ exitCode: 2, stdout: "" });
    expect(several.stderr).toContain("choose one of players, teams with --model");
    const unknown = await project.run(["migrate", "new", "names", "--model", "folk"]);
    expect(unknown.stderr).toContain("there is no model folk: choose from players, teams");
    expect(unknown.exitCode).toBe(2);
    expect((await project.run(["migrate", "new", "?!"])).exitCode).toBe(2);
    expect((await project.run(["migrate", "new", "names", "--model", "teams"])).exitCode).toBe(0);
    expect(await project.read("migrations/names.ts")).toContain("model: Team,");
  });
});

const renamed = "z.object({ id: z.string(), fullName: z.string() })";

const renameModule = `import { defineMigration } from "@keywright/orm";
import * as z from "zod";
import { Player } from "../models/player.js";

// \`up\` converts a row of \`from\` to a row of \`to\`, and \`down\` converts it back.
// Leave out \`down\` if rows cannot be converted back.
// Do not change these schemas when the model changes later.
export const fullNames = defineMigration({
  name: "full names",
  model: Player,
  from: z.object({
    id: z.string(),
    level: z.int().default(1),
    name: z.string().min(1),
  }),
  to: z.object({
    id: z.string(),
    fullName: z.string().min(1),
    level: z.int().default(1),
  }),
  up: ({ name, ...row }) => ({ ...row, fullName: name }),
  down: ({ fullName, ...row }) => ({ ...row, name: fullName }),
});
`;
