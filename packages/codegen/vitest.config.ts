import { defineConfig } from "vitest/config";
import { limits } from "../../vitest.shared.mjs";

export default defineConfig({
  // Test files share their modules, which takes a third less time.
  test: { ...limits, isolate: false },
});
