import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.shared.mjs";

export default defineConfig({
  test: {
    ...shared,
    // `@deno/kv` does not handle the rejections of its own watches.
    onUnhandledError: ({ stack = "" }) => (stack.includes("@deno/kv") ? false : undefined),
  },
});
