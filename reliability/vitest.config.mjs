import { defineConfig } from "vitest/config";
import { limits } from "../vitest.shared.mjs";

export default defineConfig({
  test: {
    ...limits,
    include: ["**/*.test.mjs"],
    // The built packages need no transformation.
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
  },
});
