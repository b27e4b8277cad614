import { createDatabase } from "@keywright/orm";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { after, before, idOf, openMigrated, reversible } from "../versions.js";
import { browserPath, launch, openPage } from "./open-page.js";
import { violations } from "./violations.js";

describe.skipIf(browserPath === undefined)("a rollback", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("is tried, asked for and run until the rows are back", async () => {
    await using kv = await openMigrated(5000);
    await using open = await openPage(browser, { kv, models: before, migrations: [reversible] });
    const { page } = open;
    await open.show("migrations");
    const note = page.getByRole("region", { name: "Rollback" });
    expect(await note.textContent()).toContain("takes the database back");
    await page.getByText(/Changes every row by scores are numbers; this goes back/).waitFor();
    await page.getByRole("button", { name: "Try on all rows" }).click();
    const trial = page.getByRole("region", { name: "Trial of players" });
    await trial.getByText("5,000 rows tried. 5,000 would change, none would fail.").waitFor();
    await trial.getByRole("row", { name: "level in 5,000 rows" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back the database?" });
    await dialog.getByText("players: transform-rows").waitFor();
    await dialog.getByText("Programs with the newer models cannot write afterwards.").waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await page.getByTestId("outcome").getByText("Migration: done").waitFor();
    await page.getByText("The database has the schema of the program.").waitFor();
    const db = await createDatabase({ kv, models: before });
    for (const i of [0, 2500, 4999]) {
      const row = await db.players.findUnique({ where: { id: idOf(i) } });
      expect(row).toEqual({ id: idOf(i), score: String(i) });
    }
    await open.show("rows/players");
    await page.getByRole("row", { name: new RegExp(idOf(3)) }).waitFor();
    expect(open.problems).toEqual([]);
  });

  it("is explained after a migration", async () => {
    await using kv = await openMigrated(5);
    await using open = await openPage(browser, { kv, models: after, migrations: [reversible] });
    await open.show("migrations");
    const undo = open.page.getByRole("region", { name: "Going back" });
    await undo.getByText("can be undone").waitFor();
    expect(await undo.textContent()).toContain("scores are numbers of players, by its down");
  });
});
