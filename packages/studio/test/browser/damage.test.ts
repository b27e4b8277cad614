import { type CorruptionError, openKv } from "@keywright/core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFolderDatabase } from "../damaged-database.js";
import { models, userOf } from "../example.js";
import { browserPath, launch, openPage } from "./open-page.js";
import { violations } from "./violations.js";

describe.skipIf(browserPath === undefined)("damaged files", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("are a finding of a verification, with the command that rescues the rest", async () => {
    await using database = await createFolderDatabase();
    await using kv = await openKv(database.path);
    await using open = await openPage(browser, { kv, models });
    const { page } = open;
    await open.show("health");
    await page.getByRole("button", { name: "Check files" }).click();
    await page.getByText(/^All files match their checksums: 1 table, \d+ KB\.$/).waitFor();
    const file = await database.damage();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByTestId("outcome").getByText("Verification: damaged files").waitFor();
    const finding = page.getByRole("region", { name: "Damaged files" });
    const line = finding.getByRole("row", { name: new RegExp(`^${file} .* rows of users`) });
    await line
      .getByText(/^\["users", "user-\d+"\]$/)
      .first()
      .waitFor();
    await finding.getByText(`npx keywright repair ${database.path} --rescue`).waitFor();
    await finding.getByText(/Every read and write fails from now on/).waitFor();
    expect(await violations(page)).toEqual([]);
    // The other views say why they show nothing, and lead back.
    await open.show("rows/users");
    await page
      .getByRole("alert")
      .getByText(/is damaged/)
      .waitFor();
    await page.getByRole("alert").getByRole("link", { name: "Show the damage" }).click();
    await finding.waitFor();
    await page.reload();
    await finding.waitFor();
    expect(open.problems).toEqual([]);
  });

  it("do not hide the rows that can still be read", async () => {
    await using database = await createFolderDatabase();
    await database.damage();
    const damage = await openKv(database.path).catch((error: CorruptionError) => error);
    if ("close" in damage) throw new Error("The database opened.");
    await using kv = await openKv(database.path, { checkFiles: false, readOnly: true });
    await using open = await openPage(browser, { kv, models, damage });
    const { page } = open;
    await open.show("rows/users");
    await page.getByText("The files of this database are damaged.").waitFor();
    await page.getByRole("row", { name: new RegExp(userOf(0).id) }).waitFor();
    expect(await page.getByRole("button", { name: "New row" }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.getByRole("link", { name: "Show the damage" }).click();
    await page.getByText(/shows what can still be read, and changes nothing/).waitFor();
    await page.getByRole("button", { name: "Check files" }).click();
    const places = page.getByRole("table", { name: "Damaged places" });
    await places.getByText("rows of users").waitFor();
    expect(open.problems).toEqual([]);
  });
});
