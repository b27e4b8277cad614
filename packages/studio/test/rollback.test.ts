import { openKv } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
import { expect, it } from "vitest";
import { endOfJob } from "./end-of-job.js";
import { openStudio } from "./open-studio.js";
import { after, before, idOf, irreversible, openMigrated, reversible } from "./versions.js";

it("says that a plan goes back, and which fields rows lose", async () => {
  await using kv = await openMigrated(1200);
  await using open = await openStudio({ kv, models: before, migrations: [reversible] });
  const plan = await open.call("migration", null);
  expect(plan).toMatchObject({ goesBack: ["players"], isSideBySide: false });
  expect(plan.steps.map(({ id, class: of }) => [id, of])).toContainEqual([
    "players: transform-rows",
    "breaking",
  ]);
  await open.call("tryRows", null);
  const trial = await endOfJob(open);
  expect(trial).toMatchObject({ kind: "try", outcome: "passed" });
  expect(trial.tried).toEqual([
    {
      ...{ model: "players", rows: 1200, changed: 1200, failed: 0, failures: [] },
      fields: [
        { field: "score", added: 0, changed: 1200, removed: 0 },
        { field: "level", added: 0, changed: 0, removed: 1200 },
      ],
      examples: expect.arrayContaining([
        { key: { id: idOf(0) }, before: { score: 0, level: 1 }, after: { score: "0" } },
      ]),
    },
  ]);
  // A trial writes nothing.
  expect((await open.call("migration", null)).steps).toEqual(plan.steps);
});

it("rolls back when the breaking steps are accepted", async () => {
  await using kv = await openMigrated(50);
  await using open = await openStudio({ kv, models: before, migrations: [reversible] });
  const none = { accept: [], dropModels: [], acceptFailures: false };
  await open.call("migrate", none);
  expect(await endOfJob(open)).toMatchObject({ outcome: "refused" });
  const { steps } = await open.call("migration", null);
  await open.call("migrate", { ...none, accept: steps.map(({ id }) => id) });
  expect(await endOfJob(open)).toMatchObject({ outcome: "done", tried: [{ rows: 50, failed: 0 }] });
  const db = await createDatabase({ kv, models: before });
  const row = await db.players.findUnique({ where: { id: idOf(7) } });
  expect(row).toEqual({ id: idOf(7), score: "7" });
  expect(await open.call("migration", null)).toMatchObject({ steps: [], goesBack: [] });
});

it("names the migration that has no down", async () => {
  await using kv = await openMigrated(5);
  await using open = await openStudio({ kv, models: before, migrations: [irreversible] });
  const { steps, goesBack, migrations } = await open.call("migration", null);
  expect(goesBack).toEqual(["players"]);
  expect(steps.map(({ blocked }) => blocked)).toContainEqual(
    expect.stringContaining('"scores are numbers" leads'),
  );
  const model = "players";
  expect(migrations).toEqual([{ name: "scores are numbers", model, obstacle: "it has no down" }]);
});

it("changes nothing if rows would fail, unless this is accepted", async () => {
  await using kv = await openMigrated(0);
  const old = await createDatabase({ kv, models: after });
  await old.players.create({ data: { id: "1", score: 7, level: 1 } });
  await old.players.create({ data: { id: "2", score: 8, level: 1 } });
  const failing = {
    ...reversible,
    down: (row: Readonly<Record<string, unknown>>) => {
      if (row["score"] === 8) throw new Error("eight");
      return reversible.down!(row);
    },
  };
  await using open = await openStudio({ kv, models: before, migrations: [failing] });
  const { steps } = await open.call("migration", null);
  const input = { accept: steps.map(({ id }) => id), dropModels: [], acceptFailures: false };
  await open.call("migrate", input);
  const refused = await endOfJob(open);
  expect(refused).toMatchObject({ outcome: "would-fail", tried: [{ rows: 2, failed: 1 }] });
  expect(refused.tried[0]?.failures).toEqual([
    { key: { id: "2" }, reason: expect.stringContaining("eight") },
  ]);
  expect((await open.call("migration", null)).steps).toEqual(steps);
  await open.call("migrate", { ...input, acceptFailures: true });
  expect(await endOfJob(open)).toMatchObject({ outcome: "failed-rows" });
});

it("does not take a new migration for a rollback, and says afterwards how to undo it", async () => {
  await using kv = await openKv();
  const old = await createDatabase({ kv, models: before });
  await old.players.create({ data: { id: "1", score: "7" } });
  await using open = await openStudio({ kv, models: after, migrations: [reversible] });
  const plan = await open.call("migration", null);
  expect(plan.steps.length).toBeGreaterThan(0);
  expect(plan.goesBack).toEqual([]);
  await open.call("migrate", { accept: [], dropModels: [], acceptFailures: false });
  expect(await endOfJob(open)).toMatchObject({ outcome: "done" });
  const { steps, migrations } = await open.call("migration", null);
  expect(steps).toEqual([]);
  expect(migrations).toMatchObject([{ name: "scores are numbers", obstacle: null }]);
});
