import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { generate } from "../src/generate/generate.js";
import { compile } from "./compile.js";

const fixtures = {
  plain: "generated",
  keys: "src/generated",
  tenants: "generated",
  totals: "generated",
  blog: "generated",
  league: "generated",
};

const projectOf = (name: string) => join(import.meta.dirname, "fixtures", name);

/** `vitest -u` writes the files anew: read the difference. */
it.each(Object.entries(fixtures))(
  "the generated files of %s are the golden ones, and no others",
  async (name, output) => {
    const project = projectOf(name);
    const { files } = await generate({ folder: project, check: true });
    for (const { path, text } of files) await expect(text).toMatchFileSnapshot(path);
    const folder = join(project, output);
    const names = files.flatMap(({ path }) => (dirname(path) === folder ? [basename(path)] : []));
    expect((await readdir(folder)).sort()).toEqual(names.sort());
    const others = files.filter(({ path }) => dirname(path) !== folder);
    expect(others.map(({ path }) => path)).toEqual([join(project, "keywright.lock.json")]);
  },
);

it("the golden files declare their types in each file alone", async () => {
  const folders = Object.entries(fixtures).map(([name, output]) => join(projectOf(name), output));
  const files = await Promise.all(
    folders.map(async (folder) => (await readdir(folder)).map((file) => join(folder, file))),
  );
  const faults = compile(files.flat(), { isolatedDeclarations: "true" });
  // The modules of the models declare theirs as users do.
  expect(faults.some((fault) => fault.includes("--isolatedDeclarations"))).toBe(true);
  const ofGenerated = faults.filter((fault) => folders.some((folder) => fault.startsWith(folder)));
  expect(ofGenerated).toEqual([]);
});
