import { defineConfig } from "vitest/config";
import { inBrowser } from "../../vitest.browser.mjs";

export default defineConfig(inBrowser({ include: ["test/browser/**/*.test.ts"] }));
