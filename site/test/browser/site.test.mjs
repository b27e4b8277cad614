import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  browserPath,
  expectAccessible,
  looks,
  openBuiltSite,
  shiftOfLayout,
} from "./built-site.mjs";

const pages = [
  "/",
  "/errors",
  "/benchmarks",
  "/scorecard",
  "/playground",
  "/migrations/rows",
  "/compare/prisma",
  "/api/orm/",
  "/api/core/functions/openKv",
];

describe.skipIf(browserPath === undefined)("the built site", () => {
  let site;
  beforeAll(async () => {
    site = await openBuiltSite();
  });
  afterAll(() => site?.close());

  it.each(looks)(
    "in $colorScheme, $width pixels wide: axe finds nothing, and nothing moves",
    async (look) => {
      for (const path of pages) {
        await site.withPage(look, async (page) => {
          await page.goto(site.url + path, { waitUntil: "networkidle" });
          expect(await shiftOfLayout(page), path).toBeLessThan(0.005);
          await expectAccessible(page, path);
        });
      }
    },
  );

  it("finds a page by a word, and leads to its heading", async () => {
    await site.withPage({}, async (page) => {
      await page.goto(site.url, { waitUntil: "networkidle" });
      await page.getByRole("button", { name: "Search" }).click();
      await page.getByRole("searchbox").fill("KW_UNIQUE_CONSTRAINT");
      const first = page.getByRole("option").first();
      await first.waitFor();
      await first.click();
      await page.waitForURL(/\/errors#kw_unique_constraint$/);
    });
  });

  it.each([
    ["/models.md", "# Models"],
    ["/playground.md", "### A unique index that refuses"],
    ["/llms.txt", "# Keywright"],
    ["/llms.txt", "[Playground](/playground.md)"],
    ["/llms-full.txt", "<!-- /models.md -->"],
  ])("%s is there as text", async (path, text) => {
    const response = await fetch(site.url + path);
    expect(response.status).toBe(200);
    const body = await response.text();
    expect(body).toContain(text);
    expect(body).not.toContain("<Playground");
  });
});
