// The packages as they would be published, in a project somewhere else: what a newcomer does on the first day.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const packages = fileURLToPath(new URL("../..", import.meta.url));
const { version: zod } = JSON.parse(
  await readFile(join(packages, "../node_modules/zod/package.json"), "utf8"),
) as { version: string };

let tarballs: string;
let folder: string;
beforeAll(async () => {
  tarballs = await realpath(await mkdtemp(join(tmpdir(), "keywright-packed-")));
  folder = join(tarballs, "project");
  await mkdir(folder);
});
afterAll(() => rm(tarballs, { recursive: true }));

/** Runs a program in the project, and says what it printed and what it exited with. */
function run(
  program: string,
  args: readonly string[],
  cwd = folder,
): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, shell: process.platform === "win32" }, (error, stdout, stderr) =>
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

/** As npx would find it, without the second that npx takes. */
const keywright = (...args: string[]) => done("node_modules/.bin/keywright", ...args);

const program = `import { openKv } from "@keywright/core";
import { openRepositories } from "./db/index.js";

const kv = await openKv("data/app");
const db = await openRepositories(kv);
for (const name of ["Ada", "Bob"]) await db.users.create({ name, email: \`\${name}@example.com\` });
console.log((await db.users.findByEmail("ada@example.com"))?.name);
await kv.close();
`;

it("the packed packages take a newcomer from nothing to a migrated database", async () => {
  const packed: string[] = [];
  for (const name of ["core", "orm", "codegen"]) {
    const args = ["pack", "--json", "--pack-destination", tarballs];
    const { output } = await run("npm", args, join(packages, name));
    packed.push(`../${/"filename": "(.+?)"/.exec(output)?.[1]}`);
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  const others = [`zod@${zod}`, "typescript@6.0.3", "@types/node@20"];
  await done("npm", "install", ...quiet, ...packed, ...others);

  const started = await done("npx", "--no-install", "keywright", "init", "--yes");
  expect(started).toContain("created keywright.config.ts");
  expect(await keywright("generate")).toContain("1 model: 3 files written");
  await writeFile(join(folder, "src/main.ts"), program);
  await done("node_modules/.bin/tsc");
  expect(await done(process.execPath, "dist/main.js")).toBe("Ada\n");

  const model = join(folder, "src/models/user.ts");
  const text = await readFile(model, "utf8");
  await writeFile(model, text.replace("indexes: {", 'indexes: {\n    byName: { key: "name" },'));
  expect((await run("node_modules/.bin/keywright", ["generate", "--check"])).exitCode).toBe(3);
  expect(await keywright("generate")).toContain("2 files written");
  await done("node_modules/.bin/tsc");
  expect(await keywright("migrate", "plan")).toContain("build index byName");
  expect(await keywright("migrate", "run")).toContain("byName is readable");
  expect(await keywright("migrate", "plan")).toContain("Nothing to migrate.");
  expect(await keywright("verify")).toContain("2 rows, 6 entries");
  expect(await keywright("inspect", "ls", '["users_by_name"]')).toContain('"Bob"');
}, 240_000);
