import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.shared.mjs";

export default defineConfig({
  // Test files share their modules, which takes a third less time.
  test: { ...shared, isolate: false },
});
