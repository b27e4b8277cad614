import { defineConfig } from "vitest/config";
import { shared } from "../vitest.shared.mjs";

// The programs in `frameworks` run with their own frameworks: `npm run test:frameworks`.
export default defineConfig({
  test: { ...shared, include: ["test/**/*.test.{ts,mjs}"] },
});
