import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { expect } from "vitest";
import { serveBuilt } from "./serve-built.mjs";

/** The folder of the built site. */
const built = fileURLToPath(new URL("../../.vitepress/dist", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The system's Chromium. Undefined if there is none. */
export const browserPath = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));
if (browserPath === undefined)
  console.warn("Skipped: these tests need Chromium (apt-get install chromium).");
if (!existsSync(built)) throw new Error("The site is not built. Run `npm run site` first.");

/** The looks in which pages are checked. */
export const looks = ["light", "dark"].flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);

/** Serves the built site on loopback and starts Chromium. */
export async function openBuiltSite() {
  const server = await serveBuilt(built);
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });

  /** Opens a page, and expects that it reports no error and requests nothing of other hosts. */
  async function withPage({ colorScheme = "light", width = 1280 }, body) {
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

  return {
    url: server.url,
    withPage,
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

/** Expects that axe finds nothing in a page, and that it does not scroll sideways. */
export async function expectAccessible(page, path) {
  const wider = "document.documentElement.scrollWidth - window.innerWidth";
  expect(await page.evaluate(wider), `${path} scrolls sideways`).toBe(0);
  await page.evaluate(axe);
  expect(await page.evaluate(brokenRules), path).toEqual([]);
}

/** Returns the sum of all layout shifts since the page was opened. */
export async function shiftOfLayout(page) {
  return await page.evaluate(
    () =>
      new Promise((resolve) => {
        let sum = 0;
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += entry.value;
        });
        observer.observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(sum), 300);
      }),
  );
}

/** Runs in the page: the rules that axe finds broken, with the elements. */
async function brokenRules() {
  const { violations } = await window.axe.run();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
