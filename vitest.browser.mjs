// What the tests that run in Chromium have in common: `npm run test:browser` in core and orm.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import { shared } from "./vitest.shared.mjs";

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));

const executablePath = [
  ...["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => existsSync(path));

if (executablePath === undefined)
  console.warn("Skipped the tests in a browser: they need Chromium (apt-get install chromium).");

/** By the end of their path: files of core that tests import, and those that browsers get. */
const replaced = {
  "core/src/index.ts": "core/src/browser.ts",
  "core/src/kv/move/move-kv.ts": "core/src/browser.ts",
  "core/src/kv/open-kv.ts": "core/src/kv/open-kv-in-browser.ts",
};
/** Modules of Node.js that tests import. */
const modules = {
  "node:assert/strict": pathOf("packages/core/test/browser/assert.ts"),
  "node:buffer": pathOf("packages/core/src/platform/browser/buffer.ts"),
};

/** Gives tests what a browser gets, although they import files of `src` by their paths. */
const asInBrowser = {
  name: "keywright-in-browser",
  enforce: "pre",
  async resolveId(source, importer, options) {
    if (source in modules) return modules[source];
    if (source === "#platform") return pathOf("packages/core/src/platform/browser.ts");
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    const [, file] = /\/packages\/(core\/src\/[^?]*)/.exec(found?.id ?? "") ?? [];
    return file in replaced ? pathOf(`packages/${replaced[file]}`) : found;
  },
};

/** The configuration of the tests of one package that run in Chromium. */
export function inBrowser(tests) {
  return {
    plugins: [asInBrowser],
    test: {
      ...shared,
      ...tests,
      ...(executablePath === undefined && { include: [], passWithNoTests: true }),
      isolate: false,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({ launchOptions: { executablePath, args: ["--no-sandbox"] } }),
        instances: [{ browser: "chromium" }],
      },
    },
  };
}
