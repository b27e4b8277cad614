import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveBuilt } from "./serve-built.mjs";

const built = fileURLToPath(new URL("../../.vitepress/dist", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browserPath = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));
if (browserPath === undefined)
  console.warn("Skipped: these tests need Chromium (apt-get install chromium).");
if (!existsSync(built)) throw new Error("The site is not built. Run `npm run site` first.");

const pages = [
  "/",
  "/errors",
  "/benchmarks",
  "/scorecard",
  "/migrations/rows",
  "/compare/prisma",
  "/api/orm/",
  "/api/core/functions/openKv",
];
const looks = ["light", "dark"].flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);

describe.skipIf(browserPath === undefined)("the built site", () => {
  let server;
  let browser;
  beforeAll(async () => {
    server = await serveBuilt(built);
    browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function withPage({ colorScheme, width }, body) {
    const viewport = { width, height: 900 };
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
    try {
      const page = await context.newPage();
      const problems = [];
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      page.on("request", (request) => {
        if (!request.url().startsWith(server.url) && request.url().startsWith("http"))
          problems.push(`requests ${request.url()}`);
      });
      await body(page);
      expect(problems).toEqual([]);
    } finally {
      await context.close();
    }
  }

  it.each(looks)(
    "in $colorScheme, $width pixels wide: axe finds nothing, and nothing moves",
    async (look) => {
      for (const path of pages) {
        await withPage(look, async (page) => {
          await page.goto(server.url + path, { waitUntil: "networkidle" });
          expect(await page.evaluate(shiftOfLayout), path).toBeLessThan(0.005);
          const wider = "document.documentElement.scrollWidth - window.innerWidth";
          expect(await page.evaluate(wider), `${path} scrolls sideways`).toBe(0);
          await page.evaluate(axe);
          expect(await page.evaluate(brokenRules), path).toEqual([]);
        });
      }
    },
  );

  it("finds a page by a word, and leads to its heading", async () => {
    await withPage({ colorScheme: "light", width: 1280 }, async (page) => {
      await page.goto(server.url, { waitUntil: "networkidle" });
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
    ["/llms.txt", "# Keywright"],
    ["/llms-full.txt", "<!-- /models.md -->"],
  ])("%s is there as text", async (path, text) => {
    const response = await fetch(server.url + path);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(text);
  });
});

/** Runs in the page: the sum of all layout shifts since it was opened. */
function shiftOfLayout() {
  return new Promise((resolve) => {
    let sum = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += entry.value;
    });
    observer.observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve(sum), 300);
  });
}

/** Runs in the page: the rules that axe finds broken, with the elements. */
async function brokenRules() {
  const { violations } = await window.axe.run();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
