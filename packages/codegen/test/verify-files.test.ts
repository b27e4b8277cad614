import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { players, playersConfig, playersProject } from "./players-project.js";
import type { Project } from "./project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

const indexes = '{ byTeam: { key: "team" } }';

async function damageTable(): Promise<string> {
  const data = join(project.folder, "data");
  const file = (await readdir(data)).find((name) => name.endsWith(".ldb"))!;
  const bytes = await readFile(join(data, file));
  bytes[bytes.length >> 2]! ^= 0x04;
  await writeFile(join(data, file), bytes);
  return file;
}

it("says that the files are intact", async () => {
  project = await playersProject(players(20), indexes);
  const { exitCode, stdout } = await project.run(["verify", "--files"]);
  expect(stdout).toMatch(/^Clean\. All files are intact: \d+ tables?, [\d,]+ bytes\.\n$/);
  expect(exitCode).toBe(0);
});

it("lists damage and its keys, although the database cannot be opened", async () => {
  project = await playersProject(players(300), indexes);
  // Opening the database moves the rows from the log to a table.
  await project.run(["verify"]);
  const file = await damageTable();
  const { exitCode, stdout } = await project.run(["verify", "--files"]);
  expect(stdout).toContain(`  ${file}, byte `);
  expect(stdout).toMatch(/keys from .+ to .+/);
  expect(stdout).toContain("Damaged.");
  expect(exitCode).toBe(1);
  const json = await project.run(["verify", "--files", "--json"]);
  expect(JSON.parse(json.stdout).result).toMatchObject({ status: "damaged", damages: [{ file }] });
  const whole = await project.run(["verify"]);
  expect(whole.stderr).toContain("KW_CORRUPTION");
  expect(whole.stderr).toContain(file);
  expect(whole.stderr).toContain("npx keywright verify --files");
  expect(whole.exitCode).toBe(1);
});

it("says that a database in memory has no files", async () => {
  project = await playersProject(players(1), indexes, {
    "keywright.config.ts": playersConfig().replace(/openKv\(.*\),/, "openKv(),"),
  });
  const { exitCode, stdout } = await project.run(["verify", "--files"]);
  expect(stdout).toContain("Nothing was checked.");
  expect(exitCode).toBe(1);
});

it("refuses options of the other checks", async () => {
  project = await playersProject(players(1), indexes);
  const { exitCode, stderr } = await project.run(["verify", "--files", "--repair"]);
  expect(stderr).toContain("--files");
  expect(exitCode).toBe(2);
});
