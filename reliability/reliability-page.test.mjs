import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { reliabilityPage } from "./reliability-page.mjs";

it("docs/reliability.md is what `npm run docs:reliability` writes", async () => {
  const page = readFileSync(new URL("../docs/reliability.md", import.meta.url), "utf8");
  expect(page).toBe(await reliabilityPage());
});
