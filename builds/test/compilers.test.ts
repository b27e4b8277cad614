// Programs that TypeScript compiles against the packed packages.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PackedProject, packedProject } from "./packed-project.js";

const tsc = fileURLToPath(new URL("../../node_modules/typescript-7/bin/tsc", import.meta.url));

const program = `
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), role: z.string() }),
  primaryKey: "id",
  indexes: { byRole: { key: "role" } },
});

async function main() {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: { users: User } });
  await db.users.create({ data: { id: "1", role: "admin" } });
  console.log((await db.users.findMany({ where: { role: "admin" } })).items.length);
}
void main();
`;

let project: PackedProject;
beforeAll(async () => {
  project = await packedProject(["core", "orm"]);
});
afterAll(() => project.remove());

/** Compiles the program in a folder of its own, and returns what the compiler printed. */
async function compile(name: string, options: Record<string, unknown>): Promise<string> {
  const folder = join(project.folder, name);
  await mkdir(folder);
  const compilerOptions = { strict: true, target: "es2022", outDir: "out", types: ["node"] };
  const config = { compilerOptions: { ...compilerOptions, ...options }, files: ["main.ts"] };
  await Promise.all([
    writeFile(join(folder, "main.ts"), program),
    writeFile(join(folder, "package.json"), '{ "type": "commonjs" }'),
    writeFile(join(folder, "tsconfig.json"), JSON.stringify(config)),
  ]);
  return await run(folder, tsc, "--pretty", "false");
}

function run(cwd: string, ...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

it.each(["nodenext", "node20"])("CommonJS with module %s", async (module) => {
  expect(await compile(module, { module })).toBe("");
  // Older versions of Node.js have require() of ES modules only behind a flag.
  expect(
    await run(join(project.folder, module), "--experimental-require-module", "out/main.js"),
  ).toContain("1\n");
});

it("CommonJS with module node16 is refused by the compiler, which names import()", async () => {
  expect(await compile("node16", { module: "node16" })).toContain("dynamic 'import(");
});

it("without strictNullChecks, the error says which setting to change", async () => {
  const output = await compile("loose", { module: "nodenext", strictNullChecks: false });
  expect(output).toContain('NeedsStrictNullChecks<"set strict, or at least strictNullChecks, to');
  expect(output).not.toContain("TS2589");
});
