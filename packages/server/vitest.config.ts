import { defineConfig } from "vitest/config";
import { limits } from "../../vitest.shared.mjs";

export default defineConfig({
  test: {
    ...limits,
    // `@deno/kv` does not handle the rejections of its own watches.
    onUnhandledError: ({ stack = "" }) => (stack.includes("@deno/kv") ? false : undefined),
  },
});
