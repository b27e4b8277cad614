import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import { players, playersProject, withDatabase } from "./players-project.js";
import type { Project } from "./project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

const rows = 300;
const Player = defineModel({
  name: "players",
  schema: z.object({ id: z.string(), team: z.string(), score: z.string() }),
  primaryKey: "id",
  indexes: { byTeam: { key: "team", count: true } },
});

/** Creates a project whose rows and index entries are in a table with two damaged blocks. */
async function damagedProject(): Promise<void> {
  project = await playersProject(players(rows), '{ byTeam: { key: "team", count: true } }');
  // The index gets its counters.
  expect((await project.run(["migrate", "run", "--accept-all"])).exitCode).toBe(0);
  await withDatabase(project, () => Promise.resolve());
  for (const name of (await readdir(project.path("data"))).filter((each) =>
    each.endsWith(".ldb"),
  )) {
    const bytes = await readFile(project.path(`data/${name}`));
    for (const part of [0.3, 0.6]) bytes[Math.floor(bytes.length * part)]! ^= 0x10;
    await writeFile(project.path(`data/${name}`), bytes);
  }
}

it("rescues rows, and repairs indexes and counters", async () => {
  await damagedProject();
  const { exitCode, stdout } = await project.run(["repair", "data", "--rescue"]);
  expect(exitCode, stdout).toBe(0);
  expect(stdout).toContain("In these places, entries may be missing, old, or deleted before.");
  expect(stdout).toMatch(/\.ldb, byte [\d,]+: a block does not match its checksum\n {4}keys from /);
  const [, left] = /^players {2}(\d+) rows: (?:at least \d+ rows are|rows may be) missing$/m.exec(
    stdout,
  )!;
  expect(Number(left)).toBeGreaterThan(0);
  expect(Number(left)).toBeLessThan(rows);
  expect(stdout).toMatch(/Done\. [\d,]+ entries rescued\. The database is in .*data-rescued\.\n/);
  expect(await countedRows("data-rescued")).toEqual([Number(left), Number(left)]);
  await rm(project.path("data"), { recursive: true });
  await project.write({
    "keywright.config.ts":
      'export default { models: "models/*.ts", output: "db", database: "data-rescued" };\n',
  });
  const verified = await project.run(["verify"]);
  expect(verified.stdout).toContain("Clean.");
  const plan = await project.run(["migrate", "plan"]);
  expect(plan.exitCode).toBe(0);
});

/** Returns the number of rows, and the sum of the counters of their teams. */
async function countedRows(name: string): Promise<[rows: number, counted: number]> {
  const kv = await openKv(project.path(name), { createIfMissing: false });
  try {
    const db = await createDatabase({ kv, models: { players: Player } });
    let found = 0;
    for await (const _ of kv.list({ prefix: ["players"] })) found++;
    const teams = [...new Set(players(rows).map(({ team }) => team))];
    const counts = await Promise.all(teams.map((team) => db.players.count({ where: { team } })));
    return [found, counts.reduce((sum, count) => sum + count, 0)];
  } finally {
    await kv.close();
  }
}

it("rescues the entries without a configuration, prints JSON, and keeps the database", async () => {
  await damagedProject();
  await rm(project.path("keywright.config.ts"));
  const { exitCode, stdout } = await project.run(["repair", "data", "--rescue", "--json"]);
  expect(exitCode).toBe(0);
  const result = JSON.parse(stdout).result;
  expect(result).toMatchObject({ status: "partial", path: project.path("data-rescued") });
  expect(result.damages[0]).toMatchObject({ firstKey: expect.any(String) });
  expect(result.entries).toBeGreaterThan(0);
  await expect(openKv(project.path("data"))).rejects.toMatchObject({ code: "KW_CORRUPTION" });
  const again = await project.run(["repair", "data", "--rescue"]);
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toContain("the folder exists");
});

it("refuses --rescue with --in-place", async () => {
  project = await playersProject(players(1), "{}");
  const { exitCode, stderr } = await project.run(["repair", "data", "--rescue", "--in-place"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("--in-place");
});
