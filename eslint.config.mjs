// Only what needs types, and what Biome therefore cannot see: in a storage library a lost await is
// a lost write.
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(globalIgnores(["**/dist/", "docs/test/blocks/"]), {
  files: [
    "packages/*/{src,test}/**/*.ts",
    "examples/*/{src,test}/**/*.ts",
    "docs/test/**/*.ts",
    "reliability/**/*.mjs",
    "scripts/**/*.mjs",
  ],
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: {
      // The nearest tsconfig.json of each file; the scripts have none.
      projectService: { allowDefaultProject: ["scripts/*.mjs", "scripts/runtimes/*.mjs"] },
      tsconfigRootDir: import.meta.dirname,
    },
  },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  plugins: { "@typescript-eslint": tseslint.plugin },
  rules: {
    "@typescript-eslint/await-thenable": "error",
    "@typescript-eslint/no-floating-promises": "error",
    "@typescript-eslint/no-misused-promises": "error",
    "@typescript-eslint/prefer-promise-reject-errors": "error",
    "@typescript-eslint/require-await": "off",
    "@typescript-eslint/return-await": ["error", "error-handling-correctness-only"],
    "@typescript-eslint/switch-exhaustiveness-check": [
      "error",
      { considerDefaultExhaustiveForUnions: true },
    ],
  },
});
