import { cp, readdir, writeFile } from "node:fs/promises";
import { openKv } from "@keywright/core";
import { afterEach, expect, it } from "vitest";
import { playersConfig, playersModule } from "./players-project.js";
import { createProject, type Project } from "./project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

async function playersProject(): Promise<void> {
  project = await createProject({
    "keywright.config.ts": playersConfig(""),
    "models/player.ts": playersModule('{ byTeam: { key: "team" } }'),
  });
  await done("migrate", "run");
  await setPlayer("1", "red");
}

async function setPlayer(id: string, team: string): Promise<string> {
  await using kv = await openKv(project.path("data"));
  const commit = await kv
    .atomic()
    .set(["players", id], { id, team, score: "5" })
    .set(["players_by_team", team, id], id)
    .commit();
  return (commit as { versionstamp: string }).versionstamp;
}

async function done(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await project.run(args);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return stdout.replaceAll(/\s+/g, " ");
}

it("backs up the project's database, adds changes, and restores each moment", async () => {
  await playersProject();
  expect(await done("log", "status")).toContain("keeps no log");
  expect(await done("log", "on", "--keep", "2 days")).toContain("for 48 hours");
  expect(await done("backup", "backups", "--incremental")).toMatch(
    /^Done\. \d+ entries backed up\. A full backup was needed: the sink has no backup\./,
  );
  const versionstamp = await setPlayer("2", "blue");
  await setPlayer("3", "blue");
  expect(await done("backup", "backups", "--incremental")).toContain("2 commits added");
  expect(await done("backup", "verify", "backups")).toMatch(/^Sound\. 1 full backup;/);
  await done("restore", "backups", "--to", "new", "--at", versionstamp);
  await using kv = await openKv(project.path("new"));
  const { value } = await kv.get(["players", "2"]);
  expect(value).toMatchObject({ team: "blue" });
  expect((await kv.get(["players", "3"])).value).toBe(null);
  const { exitCode, stderr } = await project.run(["restore", "backups", "--to", "data"]);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("KW_BACKUP_DATABASE"),
  });
});

it("finds indexes that do not match the rows of a backup", async () => {
  await playersProject();
  {
    await using kv = await openKv(project.path("data"));
    await kv.delete(["players_by_team", "red", "1"]);
  }
  await done("backup", "backups");
  const { exitCode, stdout } = await project.run(["backup", "verify", "backups", "--json"]);
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout).result).toMatchObject({ status: "damaged", backups: 1 });
});

it("restores what can be read of a damaged backup, and an encrypted one with its key", async () => {
  await playersProject();
  await done("backup", "backups");
  await cp(project.path("backups"), project.path("damaged"), { recursive: true });
  const [folder] = (await readdir(project.path("damaged"))).filter((name) => /-\w+$/.test(name));
  await writeFile(project.path(`damaged/${folder}/00000000.chunk`), "x");
  const refused = await project.run(["restore", "damaged", "--to", "new"]);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("KW_BACKUP_DAMAGED");
  expect(await done("restore", "damaged", "--to", "new", "--partial")).toMatch(/^Partly restored/);
  await project.write({ key: "k".repeat(32), other: "o".repeat(32) });
  await done("backup", "secret", "--encrypt-with", "key");
  await done("backup", "verify", "secret", "--encrypt-with", "key");
  const wrong = await project.run(["restore", "secret", "--to", "x", "--encrypt-with", "other"]);
  expect(wrong.stderr).toContain("KW_BACKUP_KEY");
  await done("restore", "secret", "--to", "x", "--encrypt-with", "key");
});

it("prints the changes of commits as JSON lines", async () => {
  await playersProject();
  await done("log", "on");
  const versionstamp = await setPlayer("2", "blue");
  await setPlayer("2", "red");
  const prefix = ["--prefix", '["players"]'];
  const { stdout } = await project.run(["changes", "--after", versionstamp, ...prefix]);
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    {
      time: expect.any(String),
      changes: [
        {
          type: "set",
          key: ["players", "2"],
          before: { value: { team: "blue" } },
          after: { value: { team: "red" } },
        },
      ],
    },
  ]);
  const listed = await project.run(["changes", "--consumers"]);
  expect(listed).toMatchObject({ exitCode: 0, stdout: "" });
  const removed = await project.run(["changes", "--remove-consumer", "copy"]);
  expect(removed).toMatchObject({ exitCode: 1, stderr: /There is no consumer copy/ });
  await done("log", "off");
  const { exitCode, stderr } = await project.run(["changes"]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: /KW_LOG_OFF/ });
});

it("refuses a database of Deno KV, which can have no log", async () => {
  const database = "  database: () => openDenoKv(':memory:'),";
  project = await createProject({
    "keywright.config.ts": playersConfig(
      database,
      'import { openKv as openDenoKv } from "@deno/kv";',
    ),
    "models/player.ts": playersModule('{ byTeam: { key: "team" } }'),
  });
  const commands = [
    ...[["changes"], ["changes", "--consumers"], ["changes", "--remove-consumer", "a"]],
    ...[
      ["log", "on"],
      ["log", "status"],
    ],
  ];
  for (const command of commands) {
    const { exitCode, stderr } = await project.run(command);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: /KW_LOG_UNSUPPORTED/ });
    expect(stderr).not.toContain("TypeError");
  }
  const { exitCode, stderr } = await project.run(["backup", "backups"]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: /KW_OPTION_INVALID/ });
});
