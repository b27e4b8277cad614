import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.shared.mjs";

export default defineConfig({
  // Test files share their modules, which takes less time. At most three tests with a cluster of
  // their own run at once.
  test: {
    ...shared,
    isolate: false,
    maxConcurrency: 3,
    globalSetup: "test/server/announce-skipped.ts",
  },
});
