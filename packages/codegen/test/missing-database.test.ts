import { readdir } from "node:fs/promises";
import { openKv } from "@keywright/core";
import { afterEach, expect, it } from "vitest";
import { withoutNewDatabases } from "../src/project/config/without-new-databases.js";
import { playersConfig, playersModule } from "./players-project.js";
import { createProject, type Project } from "./project.js";

let project: Project;

afterEach(() => project.remove());

const adopting =
  'adopt: { models: { players: kvdexLayout({ version: 4, collection: "players" }) } },';
const kvdexImport = 'import { kvdexLayout } from "@keywright/orm/adopt";';

it.each([
  { args: ["verify"] },
  { args: ["verify", "--repair"] },
  { args: ["migrate", "plan"] },
  { args: ["migrate", "status"] },
  { args: ["migrate", "run", "--dry-run"] },
  { args: ["migrate", "resume"] },
  { args: ["migrate", "rollback"] },
  { args: ["adopt", "--dry-run"] },
  { args: ["jobs", "list"] },
  { args: ["inspect", "ls"] },
  { args: ["inspect", "get", '["players"]'] },
  { args: ["inspect", "stats"] },
  { args: ["inspect", "export"] },
  { args: ["adopt"] },
])("$args makes no database where there is none, and says so", async ({ args }) => {
  project = await createProject({
    "keywright.config.ts": playersConfig(adopting, kvdexImport),
    "models/player.ts": playersModule("{}"),
    "entries.jsonl": '{"keywright":"export","format":1}\n{"keywright":"end","entries":0}\n',
  });
  const { exitCode, stdout, stderr } = await project.run(args);
  expect(stderr).toContain("error KW_DATABASE_NOT_FOUND: There is no database at data,");
  expect(stderr).toContain("npx keywright migrate run");
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(await readdir(project.folder)).not.toContain("data");
});

it.each([{ args: ["migrate", "run"] }, { args: ["inspect", "import", "entries.jsonl"] }])(
  "$args makes one",
  async ({ args }) => {
    project = await createProject({
      "keywright.config.ts": playersConfig(adopting, kvdexImport),
      "models/player.ts": playersModule("{}"),
      "entries.jsonl": '{"keywright":"export","format":1}\n{"keywright":"end","entries":0}\n',
    });
    const { exitCode, stderr } = await project.run(args);
    expect({ exitCode, stderr: stderr.includes("error") }).toEqual({ exitCode: 0, stderr: false });
    expect(await readdir(project.folder)).toContain("data");
  },
);

const fromOld = adopting.replace(
  "{ models",
  '{ from: () => openKv(new URL("./old", import.meta.url).pathname), models',
);

it("adopt makes no database to adopt from, nor one of its own then", async () => {
  project = await createProject({
    "keywright.config.ts": playersConfig(fromOld, kvdexImport),
    "models/player.ts": playersModule("{}"),
  });
  const { exitCode, stderr } = await project.run(["adopt"]);
  expect(stderr).toContain("KW_DATABASE_NOT_FOUND");
  expect(stderr).toContain("There is no database at old,");
  expect(exitCode).toBe(1);
  expect(await readdir(project.folder)).not.toContain("old");
  expect(await readdir(project.folder)).not.toContain("data");
});

it("a dry run of what makes a database says what would come into an empty one", async () => {
  project = await createProject({
    "keywright.config.ts": playersConfig(fromOld, kvdexImport),
    "models/player.ts": playersModule("{}"),
    "entries.jsonl":
      '{"keywright":"export","format":1}\n{"key":["a"],"value":1}\n{"keywright":"end","entries":1}\n',
  });
  const old = await openKv(project.path("old"));
  await old.set(["__kvdex__", "players", "__id__", "x"], { none: true });
  await old.close();
  const adopted = await project.run(["adopt", "--dry-run"]);
  expect(adopted.stderr).not.toContain("KW_DATABASE_NOT_FOUND");
  const imported = await project.run(["inspect", "import", "entries.jsonl", "--dry-run"]);
  expect(imported).toMatchObject({ exitCode: 0, stderr: "" });
  expect(imported.stdout).toContain("1 entry would be created");
  expect(await readdir(project.folder)).not.toContain("data");
});

it("a configuration that opens its database while it is loaded makes none either", async () => {
  project = await createProject({
    "keywright.config.ts": playersConfig()
      .replace(
        /^export default/m,
        'const kv = await openKv(new URL("./data", import.meta.url).pathname);\n\nexport default',
      )
      .replace(/database: .*,/, "database: () => kv,"),
    "models/player.ts": playersModule("{}"),
  });
  expect((await project.run(["migrate", "status"])).exitCode).toBe(1);
  expect(await readdir(project.folder)).not.toContain("data");
  expect((await project.run(["migrate", "run"])).exitCode).toBe(0);
  expect(await readdir(project.folder)).toContain("data");
});

it("a database in memory is opened by each command", async () => {
  project = await createProject({
    "keywright.config.ts": playersConfig().replace(/openKv\(.*\)/, "openKv()"),
    "models/player.ts": playersModule("{}"),
  });
  const { exitCode, stderr } = await project.run(["migrate", "status"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
});

it("creates none while one of several calls runs, whichever ends first", async () => {
  project = await createProject({});
  let endFirst = () => {};
  const first = withoutNewDatabases(
    () =>
      new Promise<void>((resolve) => {
        endFirst = resolve;
      }),
  );
  const second = withoutNewDatabases(async () => {
    endFirst();
    await first;
    await openKv(project.path("data"));
  });
  await expect(second).rejects.toMatchObject({ code: "KW_DATABASE_NOT_FOUND" });
  await (await openKv(project.path("data"))).close();
});
