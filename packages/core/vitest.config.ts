import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    onUnhandledError(error) {
      // Errors of the native part of `@deno/kv`: where its database is closed beside a watch or a listener, it rejects a
      // promise that nobody can see.
      return (error as { code?: unknown }).code !== "GenericFailure";
    },
  },
});
