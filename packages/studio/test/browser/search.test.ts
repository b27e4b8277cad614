import { openKv } from "@keywright/core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillNotes, searched } from "../example-search.js";
import { browserPath, launch, openPage } from "./open-page.js";
import { violations } from "./violations.js";

describe.skipIf(browserPath === undefined)("a search on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it.each([
    { width: 1280, colorScheme: "light", readOnly: false },
    { width: 390, colorScheme: "dark", readOnly: true },
  ] as const)("shows what it finds, page by page: %j", async ({ readOnly, ...look }) => {
    await using kv = await openKv();
    await fillNotes(kv);
    await using open = await openPage(browser, { kv, models: searched, readOnly }, look);
    const { page } = open;
    await open.show("rows/notes");
    const box = page.getByRole("textbox", { name: "Search" });
    await box.fill('the foxes "');
    await box.press("Enter");
    await page.getByText("45 rows found").waitFor();
    const hits = page.getByRole("region", { name: "Found rows of notes" });
    const found = hits.locator(".hit");
    await found.first().getByText("Jumping <b>foxes</b> · note-07").waitFor();
    expect(await found.first().locator("mark").allTextContents()).toEqual(["foxes", "fox", "fox"]);
    const ignored = hits.getByRole("list", { name: "Ignored parts of the query" });
    expect(await ignored.getByRole("listitem").allTextContents()).toEqual([
      "the is ignored: the index leaves this word out",
      '" is ignored: the quotation mark has no partner',
    ]);
    expect(await violations(page)).toEqual([]);
    const isWider = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    expect(isWider).toBe(false);
    if (process.env["KEYWRIGHT_SCREENSHOTS"] !== undefined)
      await page.screenshot({
        path: `${process.env["KEYWRIGHT_SCREENSHOTS"]}/search-${look.width}.png`,
      });
    await hits.getByRole("button", { name: "Load more" }).click();
    await hits.getByRole("button", { name: "Load more" }).click();
    await expect.poll(() => found.count()).toBe(45);
    // The address describes the search.
    await page.reload();
    await found.first().getByRole("link").click();
    await page.getByRole("heading", { name: /note-07/ }).waitFor();
    await page.goBack();
    await box.fill("");
    await box.press("Enter");
    await page.getByRole("row", { name: /note-07/ }).waitFor();
    expect(open.problems).toEqual([]);
  });

  it("asks for the key of the index, and leaves text indexes out of lists", async () => {
    await using kv = await openKv();
    await fillNotes(kv);
    await using open = await openPage(browser, { kv, models: searched });
    const { page } = open;
    await open.show("rows/notes");
    const index = page.getByRole("combobox", { name: "Index" });
    await index.selectOption({ label: "search, words of title, body" });
    await page.getByText("Type what to search for.").waitFor();
    await index.selectOption({ label: "ofTeam (team), words of body" });
    await page.getByText("This index is divided by team: give the value to search in.").waitFor();
    await page.getByRole("textbox", { name: "Value of team" }).fill("red");
    await page.getByRole("textbox", { name: "Search" }).fill("fox");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("5 rows found").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("textbox", { name: "Search" }).fill("cat");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("No row matches.").waitFor();
    await index.selectOption("byTeam");
    await page.getByRole("row", { name: /note-07/ }).waitFor();
    expect(page.url()).not.toContain("cat");
    // A column of a list is sorted by an index that has its order, not by a text index.
    await page.getByRole("button", { name: "title" }).click();
    await page.getByText(/No index begins with title/).waitFor();
    expect(open.problems).toEqual([]);
  });
});
