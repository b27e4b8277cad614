import { expect, it } from "vitest";
import { browserPath, launch, openExamplePage } from "../browser/open-page.js";

it.skipIf(browserPath === undefined)(
  "the page goes through 100,000 rows, of which only some are in the page",
  { timeout: 240_000 },
  async () => {
    const browser = await launch();
    try {
      await using open = await openExamplePage(browser, 100_000);
      await open.show("rows/users");
      const grid = open.page.getByRole("grid", { name: "Rows of users" });
      await open.page.getByRole("row", { name: /user-0000000/ }).waitFor();
      await grid.focus();
      for (;;) {
        await grid.press("End");
        const text = await open.page.locator(".table-foot").textContent();
        if (text?.startsWith("All ")) break;
      }
      await grid.press("End");
      await open.page.getByRole("row", { name: /user-0099999/ }).waitFor();
      expect(await open.page.getByRole("row").count()).toBeLessThan(100);
      expect(open.problems).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
