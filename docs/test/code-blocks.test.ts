import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { nodeWithSqlite } from "../../scripts/with-sqlite.mjs";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const folder = join(here, "blocks");
const typescript = fileURLToPath(
  new URL("../../node_modules/typescript-7/bin/tsc", import.meta.url),
);

/** A program in a page, and what the page says that it prints. */
interface CodeBlock {
  readonly name: string;
  readonly code: string;
  readonly output: string | undefined;
}

/**
 * Every `ts` block of a page is a program of its own; a `text` block right behind it is what it
 * prints.
 */
async function blocksOf(page: string): Promise<CodeBlock[]> {
  const text = await readFile(join(root, page), "utf8");
  const blocks = text.matchAll(/^```ts\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms);
  const name = page.replaceAll(/[/.]/g, "-");
  return [...blocks].map(([, code, output], i) => ({
    name: `${name}-${i + 1}`,
    code: code ?? "",
    output,
  }));
}

async function pages(): Promise<string[]> {
  const folders = ["docs", "docs/migrations"];
  const guides = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(root, folder)))
        .filter((name) => name.endsWith(".md"))
        .map((name) => `${folder}/${name}`),
    ),
  );
  const readmes = ["core", "orm", "codegen", "lmdb", "sqlite", "cron", "server"].map(
    (name) => `packages/${name}/README.md`,
  );
  const skill = "packages/codegen/skill/SKILL.md";
  return ["README.md", "CONTRIBUTING.md", skill, ...readmes, ...guides.flat()];
}

interface BlockResult {
  readonly output: string;
  readonly failure?: string;
}

const blocks = (await Promise.all((await pages()).map(blocksOf))).flat();

/** By the path of the compiled block. */
let results: Readonly<Record<string, BlockResult>> = {};
const pathOf = (name: string) => join(folder, "out", `${name}.js`);

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "src"), { recursive: true });
  for (const { name, code } of blocks) await writeFile(join(folder, "src", `${name}.ts`), code);
  await run(process.execPath, [typescript, "-p", join(here, "tsconfig.blocks.json")]).catch(
    (error) => {
      throw new Error(error.stdout);
    },
  );
  const needsSqlite = ({ code }: (typeof blocks)[number]) => code.includes("sqliteEngine");
  results = {
    ...(await resultsOf(process.execPath, (block) => !needsSqlite(block))),
    ...(await resultsOf(nodeWithSqlite(), needsSqlite)),
  };
});

async function resultsOf(
  program: string,
  isChosen: (block: (typeof blocks)[number]) => boolean,
): Promise<typeof results> {
  const paths = blocks.filter(isChosen).map(({ name }) => pathOf(name));
  const { stdout } = await run(program, [join(here, "run-blocks.mjs"), ...paths]);
  return JSON.parse(stdout) as typeof results;
}

describe("the code blocks", () => {
  it("are found", () => {
    expect(blocks.map(({ name }) => name)).toContain("README-md-1");
  });

  it.each(blocks)("$name runs and prints what the page says", ({ name, output }) => {
    const result = results[pathOf(name)];
    expect(result).not.toHaveProperty("failure");
    if (output !== undefined) expect(result?.output).toBe(output);
  });
});

describe("the list of errors", () => {
  it("has a heading for each code, and no other", async () => {
    const text = await readFile(join(root, "docs/errors.md"), "utf8");
    const headings = [...text.matchAll(/^### (KW_\w+)$/gm)].map(([, code]) => code);
    const { coreErrorCodes } = await import("@keywright/core");
    const { ormErrorCodes } = await import("@keywright/orm");
    const { codegenErrorCodes } = await import("@keywright/codegen");
    const { etcdErrorCodes } = await import("@keywright/etcd");
    const { postgresErrorCodes } = await import("@keywright/postgres");
    const { s3ErrorCodes } = await import("@keywright/s3");
    const { cronErrorCodes } = await import("@keywright/cron");
    const codes: string[] = [
      ...coreErrorCodes,
      ...ormErrorCodes,
      ...codegenErrorCodes,
      ...etcdErrorCodes,
      ...postgresErrorCodes,
      ...s3ErrorCodes,
      ...cronErrorCodes,
    ];
    expect(new Set(codes).size).toBe(codes.length);
    expect(headings.sort()).toEqual(codes.sort());
  });
});
