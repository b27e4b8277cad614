import { defineConfig } from "vitest/config";
import { limits } from "../vitest.shared.mjs";

export default defineConfig({ test: limits });
