import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.shared.mjs";

export default defineConfig({
  // Test files share their modules, which takes less time.
  test: { ...shared, isolate: false, globalSetup: "test/server/announce-skipped.ts" },
});
