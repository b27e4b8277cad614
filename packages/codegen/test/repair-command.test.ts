import { open, readdir, stat } from "node:fs/promises";
import { openKv, verifyFiles } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { verifyIndexes } from "@keywright/orm/migrate";
import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import { createProject, type Project } from "./project.js";

const rows = 100;
const Player = defineModel({
  name: "players",
  schema: z.object({ id: z.string(), team: z.string() }),
  primaryKey: "id",
  count: true,
  indexes: { byTeam: { key: "team", count: true } },
});

let project: Project;

afterEach(async () => {
  await project?.remove();
});

/** Creates a project with a database in which bytes in the middle of the log are zeros. */
async function damagedProject(): Promise<void> {
  project = await createProject({});
  const kv = await openKv(project.path("data"), { durability: "relaxed" });
  const db = await createDatabase({ kv, models: { players: Player } });
  for (let n = 0; n < rows; n++)
    await db.players.create({ data: { id: String(n), team: `team ${n % 3}` } });
  await kv.close();
  const [log] = (await readdir(project.path("data"))).filter((name) => name.endsWith(".log"));
  const file = await open(project.path(`data/${log}`), "r+");
  const { size } = await stat(project.path(`data/${log}`));
  await file.write(new Uint8Array(50), 0, 50, Math.floor(size / 2));
  await file.close();
}

/** Returns the number of rows, after a check that files, indexes and counters are intact. */
async function wholeRows(name: string): Promise<number> {
  expect((await verifyFiles(project.path(name))).damages).toEqual([]);
  const kv = await openKv(project.path(name), { createIfMissing: false });
  try {
    const db = await createDatabase({ kv, models: { players: Player } });
    expect((await verifyIndexes(db)).status).toBe("clean");
    let found = 0;
    for await (const _ of kv.list({ prefix: ["players"] })) found++;
    expect(await db.players.count()).toBe(found);
    return found;
  } finally {
    await kv.close();
  }
}

it("writes a copy without what follows the damage, and keeps the database", async () => {
  await damagedProject();
  const { exitCode, stdout } = await project.run(["repair", "data"]);
  expect(exitCode).toBe(0);
  const [, path, lost] = /^Done\. The database is in (.*)\. At least (\d+) commits/.exec(
    stdout.replaceAll("\n", " "),
  )!;
  expect(path).toBe(project.path("data-repaired"));
  const kept = await wholeRows("data-repaired");
  expect(kept).toBeGreaterThan(0);
  expect(kept + Number(lost)).toBe(rows);
  await expect(openKv(project.path("data"))).rejects.toMatchObject({ code: "KW_CORRUPTION" });
  const again = await project.run(["repair", "data"]);
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toContain("the folder exists");
});

it("repairs the database itself with --in-place, and prints JSON", async () => {
  await damagedProject();
  const { exitCode, stdout } = await project.run(["repair", "data", "--in-place", "--json"]);
  expect(exitCode).toBe(0);
  const kept = await wholeRows("data");
  expect(JSON.parse(stdout).result).toMatchObject({
    path: project.path("data"),
    lostCommits: rows - kept,
  });
  const again = await project.run(["repair", "data", "--in-place"]);
  expect(again.stdout).toContain("No commit had to be cut off.");
});

it("refuses both options at once", async () => {
  project = await createProject({});
  const { exitCode, stderr } = await project.run(["repair", "data", "--to", "b", "--in-place"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("--to and --in-place exclude each other");
});
