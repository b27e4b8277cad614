import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.shared.mjs";

export default defineConfig({
  test: {
    // Test files share their modules, which takes a quarter less time.
    isolate: false,
    ...shared,
    onUnhandledError(error) {
      // Errors of the native part of `@deno/kv`: where its database is closed beside a watch or a
      // listener, it rejects a promise that nobody can see.
      return (error as { code?: unknown }).code !== "GenericFailure";
    },
  },
});
