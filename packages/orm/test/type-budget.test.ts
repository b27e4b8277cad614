import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { drizzleProgram, keywrightProgram, type Program } from "./schema-of-size.js";

const require = createRequire(import.meta.url);

/**
 * The `node_modules` with Drizzle, Zod and this package as it was built, whose declarations are
 * what users have.
 */
const packages = dirname(dirname(require.resolve("drizzle-orm")));

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
};

interface Checked {
  /** What is wrong with the program. */
  readonly problems: readonly string[];
  readonly instantiations: number;
  readonly types: number;
  readonly milliseconds: number;
}

/** Type-checks a program as `tsc` does, in a folder of its own that is removed. */
async function check(program: Program): Promise<Checked> {
  const folder = await mkdtemp(join(tmpdir(), "keywright-types-"));
  try {
    await symlink(packages, join(folder, "node_modules"), "junction");
    const files = Object.keys(program).map((name) => join(folder, name));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await Promise.all(
      Object.entries(program).map(([name, text]) => writeFile(join(folder, name), text)),
    );
    const compiled = ts.createProgram(files, options);
    compiled.getSyntacticDiagnostics();
    const start = performance.now();
    const problems = ts.getPreEmitDiagnostics(compiled);
    const milliseconds = Math.round(performance.now() - start);
    return {
      problems: problems.map(({ messageText }) =>
        ts.flattenDiagnosticMessageText(messageText, "\n"),
      ),
      instantiations: compiled.getInstantiationCount(),
      types: compiled.getTypeCount(),
      milliseconds,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

it("40 models and 160 queries take no more type instantiations than the same in Drizzle", async () => {
  const count = 40;
  const ours = await check(keywrightProgram(count, "@keywright/orm"));
  expect(ours.problems).toEqual([]);
  const theirs = await check(drizzleProgram(count));
  expect(theirs.problems).toEqual([]);
  const figures = ({ instantiations, types, milliseconds }: Checked) => ({
    instantiations,
    types,
    milliseconds,
  });
  console.table({ keywright: figures(ours), drizzle: figures(theirs) });
  expect(ours.instantiations).toBeLessThanOrEqual(theirs.instantiations);
}, 180_000);
