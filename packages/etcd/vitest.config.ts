import { defineConfig } from "vitest/config";
import { limits } from "../../vitest.shared.mjs";

export default defineConfig({
  // Test files share their modules, which takes less time.
  test: { ...limits, isolate: false, globalSetup: "test/server/announce-skipped.ts" },
});
