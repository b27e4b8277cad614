import { defineConfig } from "@keywright/codegen";

export default defineConfig({ models: "src/models/*.ts", output: "src/generated" });
