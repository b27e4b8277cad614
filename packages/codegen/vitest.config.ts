import { configDefaults, defineConfig } from "vitest/config";
import { shared } from "../../vitest.shared.mjs";

export default defineConfig({
  test: {
    ...shared,
    // Test files share their modules, which takes a third less time.
    isolate: false,
    // `npm run test:runtimes` installs the packed packages and runs this test on every runtime.
    exclude:
      process.env["KEYWRIGHT_PACKED"] === undefined
        ? [...configDefaults.exclude, "test/packed.test.ts"]
        : configDefaults.exclude,
  },
});
