import { spawnSync } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { drizzleProgram, keywrightProgram, type Program } from "./schema-of-size.js";

const require = createRequire(import.meta.url);

/**
 * The `node_modules` with Drizzle, Zod and this package as it was built, whose declarations are
 * what users have.
 */
const packages = dirname(dirname(require.resolve("drizzle-orm")));

/** The compiler that runs as a native program. It takes a fifth of the time. */
const compiler = join(packages, "typescript-7/bin/tsc");

const config = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "esnext.disposable"],
    module: "nodenext",
    moduleResolution: "nodenext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
    pretty: false,
  },
};

interface Checked {
  /** What is wrong with the program. */
  readonly problems: readonly string[];
  readonly instantiations: number;
  readonly types: number;
}

/** Type-checks a program as `tsc` does, in a folder of its own that is removed. */
async function check(program: Program): Promise<Checked> {
  const folder = await mkdtemp(join(tmpdir(), "keywright-types-"));
  try {
    await symlink(packages, join(folder, "node_modules"), "junction");
    const files = {
      ...program,
      "package.json": '{ "type": "module" }',
      "tsconfig.json": JSON.stringify(config),
    };
    await Promise.all(
      Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)),
    );
    // Several threads would each instantiate the types that they share.
    const args = [compiler, "-p", folder, "--singleThreaded", "--extendedDiagnostics"];
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
    const figure = (name: string) =>
      Number(new RegExp(`^${name}: +(\\d+)$`, "m").exec(stdout)?.[1] ?? Number.NaN);
    return {
      problems: stdout.split("\n").filter((line) => line.includes("error TS")),
      instantiations: figure("Instantiations"),
      types: figure("Types"),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

it("40 models and 160 queries take at most 2 % more type instantiations than the same in Drizzle", async () => {
  const count = 40;
  const { problems, ...ours } = await check(keywrightProgram(count, "@keywright/orm"));
  expect(problems).toEqual([]);
  const { problems: theirProblems, ...theirs } = await check(drizzleProgram(count));
  expect(theirProblems).toEqual([]);
  console.table({ keywright: ours, drizzle: theirs });
  expect(ours.instantiations).toBeLessThanOrEqual(1.02 * theirs.instantiations);
});
