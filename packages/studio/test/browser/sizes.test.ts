import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, launch, openExamplePage } from "./open-page.js";

describe.skipIf(browserPath === undefined)("the sizes of models", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("are shown after a click, the largest model first", async () => {
    await using open = await openExamplePage(browser, 3000);
    const { page } = open;
    await open.show("models");
    const table = page.getByRole("table", { name: "Sizes of the models" });
    expect(await table.count()).toBe(0);
    await page.getByRole("button", { name: "Measure sizes" }).click();
    const first = table.getByRole("row").nth(1);
    await expect.poll(() => first.textContent()).toMatch(/^users≈ \d+ KB≈ \d+ KB≈ [\d.]+ MB$/);
    // The posts are few, so all of them are read.
    await table.getByRole("row", { name: /^posts \d[\d.]* KB/ }).waitFor();
    await table.getByRole("row", { name: /^All models ≈/ }).waitFor();
    const indexes = page.getByRole("table", { name: "Indexes of users" });
    await indexes.getByRole("row", { name: /^byEmail .*≈ \d+ KB 3,000 entries$/ }).waitFor();
    expect(open.problems).toEqual([]);
  });
});
