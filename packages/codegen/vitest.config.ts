import { defineConfig } from "vitest/config";
import { limits } from "../../vitest.shared.mjs";

export default defineConfig({
  // Test files share their modules, which takes a third less time.
  // Two at a time: it is the longest of the packages' suites, and much of it waits for processes.
  test: { ...limits, isolate: false, maxWorkers: 2 },
});
