import { execFile } from "node:child_process";
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const typescript = fileURLToPath(
  new URL("../../node_modules/typescript-7/bin/tsc", import.meta.url),
);
const command = join(root, "packages/codegen/bin/keywright.js");

const page = await readFile(join(root, "README.md"), "utf8");
const [, program = ""] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
const [, model = ""] = /^(const User = defineModel\(\{\n.*?^\}\);)$/ms.exec(program) ?? [];

/** The text of the block that begins with a line. */
function block(firstLine: string): string {
  const blocks = [...page.matchAll(/^```text\n(.*?)^```$/gms)].map(([, text = ""]) => text);
  const found = blocks.find((text) => text.startsWith(`${firstLine}\n`));
  if (found === undefined) throw new Error(`The page has no block that begins with ${firstLine}.`);
  return found;
}

const inOneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "keywright-readme-")));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
});
afterAll(() => rm(folder, { recursive: true }));

/** What a program prints, whatever it exits with. */
function printed(...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

it("the compiler says of the query without an index what the page says", async () => {
  const query = 'await db.users.findMany({ where: { name: "Ada" } });';
  const [, message = ""] = block(query).split(`${query}\n`);
  await writeFile(join(folder, "program.ts"), `${program}\n${query}\n`);
  const tsconfig = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: { composite: false, noEmit: true, types: ["node"] },
    files: ["program.ts"],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  const said = await printed(typescript, "-p", ".", "--pretty", "false");
  expect(inOneLine(said)).toContain(inOneLine(message));
});

it("the plan for the index is the one of the page", async () => {
  const config = `import { openKv } from "@keywright/core";
export default { models: "user.ts", output: "db", database: () => openKv("data") };
`;
  const module = `import { defineModel } from "@keywright/orm";
import * as z from "zod";
export ${model}
`;
  await writeFile(join(folder, "keywright.config.ts"), config);
  await writeFile(join(folder, "user.ts"), module);
  await printed(command, "migrate", "run");
  const byName = 'indexes: {\n    byName: { key: "name" },';
  await writeFile(join(folder, "user.ts"), module.replace("indexes: {", byName));
  expect(await printed(command, "migrate", "plan")).toBe(block("users"));
});

it("the program can be run again, and prints the same", async () => {
  await writeFile(join(folder, "again.ts"), program);
  const options = ["--ignoreConfig", "--target", "es2022", "--module", "nodenext"];
  await printed(typescript, ...options, "--skipLibCheck", "--types", "node", "again.ts");
  const expected = block("Ada");
  expect(await printed("again.js")).toBe(expected);
  expect(await printed("again.js")).toBe(expected);
});
