import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encode } from "../../src/protocol/wire.js";
import { models, openExample, userOf } from "../example.js";
import { browserPath, launch, openPage } from "./open-page.js";
import { violations } from "./violations.js";

const where = { id: userOf(1).id };
const rowPage = `row/users?${new URLSearchParams({ key: encode(where) })}`;

describe.skipIf(browserPath === undefined)("the log on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  const openLogged = async (width: number, readOnly = false) => {
    const example = await openExample(5, { log: { keep: "7 days" } });
    const options = { kv: example.kv, models, title: "example", readOnly };
    const open = await openPage(browser, options, { width });
    const close = async () => {
      await open[Symbol.asyncDispose]();
      await example.kv.close();
    };
    return { ...example, ...open, [Symbol.asyncDispose]: close };
  };

  it.each([1280, 390])("follows the commits, of one model too, %i pixels wide", async (width) => {
    await using open = await openLogged(width);
    const { page, db, kv } = open;
    await open.show("changes");
    const commits = page.getByRole("list", { name: "Commits" }).getByRole("listitem");
    await commits.first().waitFor();
    const said = db.withContext({ actor: "ada", reason: "<b>ticket 7</b>" });
    await said.users.update({ where, data: { name: "Lovelace" } });
    const newest = commits.first();
    await newest.getByText("actor: ada").waitFor();
    expect(await newest.textContent()).toContain("<b>ticket 7</b>");
    await newest.getByText("before: Ada Lovelace 1", { exact: true }).waitFor();
    await newest.getByText("after: Lovelace", { exact: true }).waitFor();
    await kv.set(["note"], 1);
    await newest.getByText("Changed 1 key outside of rows.").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("combobox", { name: "Rows of" }).selectOption("tags");
    await commits.first().getByRole("link", { name: "engines" }).waitFor();
    await said.users.update({ where, data: { name: "Ada" } });
    await db.tags.create({ data: { id: "new" } });
    await newest.getByRole("link", { name: "new" }).waitFor();
    expect(await page.getByText("1 new commit").count()).toBe(1);
    await open.show("changes");
    expect(page.url()).not.toContain("model=");
    const isWider = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    expect(isWider).toBe(false);
    expect(open.problems).toEqual([]);
  });

  it.each([1280, 390])("shows the history of a row and restores, %i pixels wide", async (width) => {
    await using open = await openLogged(width);
    const { page, db } = open;
    const said = db.withContext({ actor: "ada" });
    await said.users.update({ where, data: { name: "Lovelace", age: 36 } });
    await open.show(rowPage);
    await page.getByText("History").click();
    const versions = page.getByRole("list", { name: "Versions" }).getByRole("listitem");
    await versions.nth(1).waitFor();
    expect(await versions.count()).toBe(2);
    const newest = await versions.first().textContent();
    for (const text of ["actor: ada", "before: Ada Lovelace 1", "after: Lovelace", "after: 36"])
      expect(newest).toContain(text);
    expect(newest).not.toContain("email");
    expect(await violations(page)).toEqual([]);
    const isWider = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    expect(isWider).toBe(false);
    expect(await versions.first().getByRole("button").count()).toBe(0);
    await versions.nth(1).getByRole("button", { name: "Restore this version" }).click();
    const dialog = page.getByRole("dialog", { name: "Restore this version?" });
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Restore" }).click();
    await expect.poll(() => db.users.findUnique({ where })).toEqual(userOf(1));
    await expect.poll(() => versions.count()).toBe(3);
    await db.users.delete({ where });
    await page.reload();
    await page.getByText("This row does not exist").waitFor();
    await page.getByText("History").click();
    await versions.first().getByText("The row was deleted.").waitFor();
    await versions.nth(1).getByRole("button", { name: "Restore this version" }).click();
    await dialog.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("button", { name: "Edit" }).waitFor();
    expect(await db.users.findUnique({ where })).toEqual(userOf(1));
    expect(open.problems).toEqual([]);
  });

  it("offers no restore in a studio that is read-only", async () => {
    await using open = await openLogged(1280, true);
    await open.db.users.update({ where, data: { name: "Lovelace" } });
    await open.show(rowPage);
    await open.page.getByText("History").click();
    await open.page.getByRole("list", { name: "Versions" }).getByRole("listitem").nth(1).waitFor();
    expect(await open.page.getByRole("button", { name: "Restore this version" }).count()).toBe(0);
  });
});
