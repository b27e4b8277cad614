import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.shared.mjs";

// Test files share their modules, which takes less time.
export default defineConfig({ test: { ...shared, isolate: false } });
