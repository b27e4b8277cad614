import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { generate } from "../src/generate/generate.js";

const fixtures = {
  plain: "generated",
  keys: "src/generated",
  tenants: "generated",
  totals: "generated",
  blog: "generated",
  league: "generated",
};

/** `vitest -u` writes the files anew: read the difference. */
describe.each(Object.entries(fixtures))("the generated files of %s", (name, output) => {
  const project = join(import.meta.dirname, "fixtures", name);

  it("are the golden ones, and no others", async () => {
    const { files } = await generate({ folder: project, check: true });
    for (const { path, text } of files) await expect(text).toMatchFileSnapshot(path);
    const folder = join(project, output);
    const names = files.flatMap(({ path }) => (dirname(path) === folder ? [basename(path)] : []));
    expect((await readdir(folder)).sort()).toEqual(names.sort());
    const others = files.filter(({ path }) => dirname(path) !== folder);
    expect(others.map(({ path }) => path)).toEqual([join(project, "keywright.lock.json")]);
  });

  it("declare their types in each file alone", async () => {
    const { files } = await generate({ folder: project, check: true });
    for (const { path, text = "" } of files) {
      if (!path.endsWith(".ts")) continue;
      const { diagnostics } = ts.transpileDeclaration(text, {
        fileName: basename(path),
        reportDiagnostics: true,
        compilerOptions: { isolatedDeclarations: true, strict: true, verbatimModuleSyntax: true },
      });
      expect(diagnostics).toEqual([]);
    }
  });
});
