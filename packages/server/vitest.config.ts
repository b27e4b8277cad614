import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.shared.mjs";

export default defineConfig({
  test: {
    ...shared,
    // Test files share their modules, which takes less time.
    isolate: false,
    // `@deno/kv` does not handle the rejections of its own watches.
    onUnhandledError: ({ stack = "" }) => (stack.includes("@deno/kv") ? false : undefined),
  },
});
