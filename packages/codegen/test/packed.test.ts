// The packages as they would be published, in a project somewhere else: what a newcomer does on the
// first day.
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "keywright-packed-")));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a program in the project. Resolves with its exit code and what it printed. */
function run(
  program: string,
  args: readonly string[],
): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder }, (error, stdout, stderr) =>
      resolve({
        exitCode: typeof error?.code === "number" ? error.code : 0,
        output: stdout + stderr,
      }),
    );
  });
}

async function done(program: string, ...args: string[]): Promise<string> {
  const { exitCode, output } = await run(program, args);
  expect(exitCode, output).toBe(0);
  return output;
}

/** Runs a module of an installed package in the runtime that runs this test. */
const node = (module: string, ...args: string[]) =>
  done(process.execPath, `node_modules/${module}`, ...args);
const command = "@keywright/codegen/bin/keywright.js";
const keywright = (...args: string[]) => node(command, ...args);
const tsc = () => node("typescript/bin/tsc");

/** Reads a row with the compiled repositories and the migration. */
const readAda = `
import { openKv } from "@keywright/core";
import { openRepositories } from "./dist/db/index.js";
import { fullNames } from "./dist/migrations/full-names.js";
const kv = await openKv("data/app");
const db = await openRepositories(kv, { migrations: [fullNames] });
const ada = await db.users.findByEmail("ada@example.com");
if (ada?.fullName !== "Ada") throw new Error(JSON.stringify(ada));
const { migrate } = await import("@keywright/orm");
const { status } = await migrate(db.database, { accept: true });
if (status !== "done") throw new Error(status);
await kv.close();
`;

/** A folder in which the packed packages are installed, once for all runtimes. */
const installed = process.env.KEYWRIGHT_PACKED ?? "";

it("the packed packages take a newcomer from nothing to a migrated database", async () => {
  await cp(join(installed, "package.json"), join(folder, "package.json"));
  await symlink(join(installed, "node_modules"), join(folder, "node_modules"), "junction");
  await done("node_modules/.bin/keywright", "--version");

  const started = await keywright("init", "--yes");
  expect(started).toContain("created keywright.config.ts");
  // What it prints last runs the program: `node src/main.ts`, or `npx tsc` and `node dist/main.js`.
  const [, steps = ""] = started.split("  npx keywright generate\n");
  expect(await keywright("generate")).toContain("1 model: 3 files written");
  for (const step of steps.trim().split(/\n */)) {
    if (step === "npx tsc") await tsc();
    else {
      const [, path = ""] = /^node (\S+)$/.exec(step) ?? [];
      expect(await done(process.execPath, path)).toMatch(/name: ['"]Ada['"]/);
    }
  }
  await tsc();
  await writeFile(
    join(folder, "src/bob.ts"),
    (await readFile(join(folder, "src/main.ts"), "utf8")).replaceAll(/ada\b/gi, "bob"),
  );
  await tsc();
  expect(await done(process.execPath, "dist/bob.js")).toMatch(/name: ['"]bob['"]/);

  const model = join(folder, "src/models/user.ts");
  const text = await readFile(model, "utf8");
  await writeFile(model, text.replace("indexes: {", 'indexes: {\n    byName: { key: "name" },'));
  expect(
    (await run(process.execPath, [`node_modules/${command}`, "generate", "--check"])).exitCode,
  ).toBe(3);
  expect(await keywright("generate")).toContain("2 files written");
  await tsc();
  expect(await keywright("migrate", "plan")).toContain("build index byName");
  expect(await keywright("migrate", "run")).toContain("byName is readable");
  expect(await keywright("migrate", "plan")).toContain("Nothing to migrate.");
  expect(await keywright("verify")).toContain("2 rows, 6 entries");
  expect(await keywright("inspect", "ls", '["users_by_name"]')).toContain('"bob"');

  // A field gets another name, by a migration that the command writes.
  await writeFile(model, (await readFile(model, "utf8")).replaceAll("name: z.", "fullName: z."));
  await writeFile(model, (await readFile(model, "utf8")).replace('key: "name"', 'key: "fullName"'));
  await keywright("generate");
  expect(await keywright("migrate", "new", "full names")).toContain("full-names.ts was written");
  for (const name of ["main", "bob"]) {
    const program = join(folder, `src/${name}.ts`);
    const source = await readFile(program, "utf8");
    const migrated = source
      .replaceAll("name:", "fullName:")
      .replace(/(ada|bob)\.name/, "$1.fullName")
      .replace("openRepositories(kv)", "openRepositories(kv, { migrations: [fullNames] })");
    const line = 'import { fullNames } from "./migrations/full-names.ts";\n';
    await writeFile(program, line + migrated);
  }
  await tsc();
  // The new program already reads the row by its new schema.
  await writeFile(join(folder, "read-ada.mjs"), readAda);
  await done(process.execPath, "read-ada.mjs");
}, 240_000);
