import { expect, it } from "vitest";
import { browserPath, launch, openExamplePage } from "../browser/open-page.js";
import { userOf } from "../example.js";

/** The time grows with the rows. The page has the same number of them at any time. */
const rows = Number(process.env["KEYWRIGHT_SOAK_ROWS"] ?? 10_000);

it.skipIf(browserPath === undefined)(
  "the page goes through many rows, of which only some are in the page",
  { timeout: 240_000 },
  async () => {
    const browser = await launch();
    try {
      await using open = await openExamplePage(browser, rows);
      await open.show("rows/users");
      const grid = open.page.getByRole("grid", { name: "Rows of users" });
      await open.page.getByRole("row", { name: userOf(0).id }).waitFor();
      await grid.focus();
      for (;;) {
        await grid.press("End");
        const text = await open.page.locator(".table-foot").textContent();
        if (text?.startsWith("All ")) break;
      }
      await grid.press("End");
      await open.page.getByRole("row", { name: userOf(rows - 1).id }).waitFor();
      expect(await open.page.getByRole("row").count()).toBeLessThan(100);
      expect(open.problems).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
