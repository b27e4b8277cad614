// `npm run test:managers`: installs the packages with each package manager, from a registry on
// loopback, and runs a program that uses native code. `-- npm11 bun` tries only these. `--update`
// writes the table of docs/runtimes.md.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installRuntimes } from "../runtimes/install.mjs";
import { runtimes } from "../runtimes/runtimes.mjs";
import { startRegistry } from "./registry.mjs";
import { done, run } from "./run.mjs";
import { publishedPackages, root, scratchClone } from "./scratch-clone.mjs";
import { installTool, versionOf } from "./tools.mjs";

const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const page = join(root, "docs/runtimes.md");
const [node24, bun] = installRuntimes(
  ["node24", "bun"].map((runtime) => runtimes.find(({ name }) => name === runtime)),
);
const node20 = process.execPath;

/** The package managers: how each adds packages, and how it does so without scripts. */
const allManagers = [
  npm("npm10", node20),
  npm("npm11", node20),
  npm("npm12", node24.program),
  {
    ...tool("pnpm", "pnpm", node20, ["add"]),
    ways: { plain: [], noScripts: ["--ignore-scripts"], noOptional: ["--no-optional"] },
  },
  {
    ...tool("yarn1", "Yarn", node20, ["add", "--non-interactive"]),
    ways: { plain: [], noScripts: ["--ignore-scripts"], noOptional: ["--ignore-optional"] },
  },
  {
    ...tool("yarn4", "Yarn", node20, ["add"]),
    ways: { plain: [], noScripts: ["--mode=skip-build"] },
    // Otherwise Yarn refuses versions that are as new as these.
    files: {
      ".yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\nnpmMinimalAgeGate: 0\n",
      "yarn.lock": "",
    },
  },
  {
    key: "bun",
    title: "Bun",
    version: async () => (await done(bun.program, ["--version"])).trim(),
    command: async () => [bun.program, ["add"]],
    ways: { plain: [], noScripts: ["--ignore-scripts"], noOptional: ["--omit=optional"] },
  },
];

const managers = allManagers.filter(({ key }) => wanted.length === 0 || wanted.includes(key));

function npm(key, node) {
  return {
    ...tool(key, "npm", node, ["install", "--no-audit", "--no-fund"]),
    ways: { plain: [], noScripts: ["--ignore-scripts"], noOptional: ["--omit=optional"] },
  };
}

function tool(key, title, node, args) {
  return {
    key,
    title,
    version: async () => versionOf(key),
    command: async () => [node, [await installTool(key), ...args]],
  };
}

/** Uses LevelDB and LMDB, which are native code, and models. */
const program = `
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";
const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true } },
});
const engines = ["level"];
if (process.env.LMDB === "yes") {
  const { lmdbEngine } = await import("@keywright/lmdb");
  engines.push(await lmdbEngine({ path: "data.lmdb" }));
}
for (const engine of engines) {
  const kv = await openKv(engine === "level" ? "data" : engine);
  const db = await createDatabase({ kv, models: { users: User } });
  await db.users.create({ data: { email: "ada@example.com" } });
  const found = await db.users.findUnique({ where: { email: "ada@example.com" } });
  if (found?.email !== "ada@example.com") throw new Error("not found");
  await kv.close();
}
console.log(engines.length, "engines work");
`;

const folder = mkdtempSync(join(tmpdir(), "keywright-managers-"));
const registry = await startRegistry(join(folder, "registry"));
let failures = 0;
try {
  const clone = join(folder, "clone");
  await scratchClone(clone);
  const publish = ["publish", "--access", "public", "--provenance=false", "--ignore-scripts"];
  await atOnce(publishedPackages(clone), ({ folder: own }) =>
    done("npm", publish, { cwd: own, env: registry.env }),
  );
  const tries = managers.flatMap((manager) =>
    Object.entries(manager.ways).map(([way, flags]) => ({ manager, way, flags })),
  );
  // One after another: two installs of a tool in one folder would be in each other's way.
  for (const { command } of managers) await command();
  const cells = new Map();
  await atOnce(tries, async ({ manager, way, flags }) => {
    cells.set(`${manager.key} ${way}`, await tryWay(manager, way, flags));
  });
  const rows = [];
  for (const { key, title, version } of managers)
    rows.push([
      `${title} ${await version()}`,
      ...["plain", "noScripts", "noOptional"].map((way) => cells.get(`${key} ${way}`) ?? "–"),
    ]);
  const table = tableOf(rows);
  console.log(`\n${table}`);
  if (process.argv.includes("--update")) update(table);
} finally {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

/** Calls a function for each item, a few at a time: installing mostly waits for files. */
async function atOnce(items, call) {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await call(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

/** Installs in an empty project and runs the program. Returns the text of the cell. */
async function tryWay({ key, command, files = {} }, way, flags) {
  const project = join(folder, `${key}-${way}`);
  mkdirSync(project);
  const manifest = { name: "project", private: true, type: "module" };
  writeFileSync(join(project, "package.json"), `${JSON.stringify(manifest)}\n`);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  writeFileSync(join(project, "program.mjs"), program);
  const [runner, args] = await command();
  const { zod } = JSON.parse(
    readFileSync(join(root, "packages/orm/package.json"), "utf8"),
  ).devDependencies;
  // The binaries of lmdb are in optional packages. Without them, it would be compiled.
  const engines = way === "noOptional" ? 1 : 2;
  const names = ["@keywright/core", "@keywright/orm", "@keywright/codegen", `zod@${zod}`];
  if (engines === 2) names.push("@keywright/lmdb");
  const installed = await run(runner, [...args, ...flags, ...names], {
    cwd: project,
    env: {
      ...registry.env,
      YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
      // Two processes of Yarn 1 damage a cache that they share.
      YARN_CACHE_FOLDER: join(project, ".cache"),
    },
  });
  const env = { LMDB: engines === 2 ? "yes" : "no" };
  const ran =
    installed.exitCode === 0
      ? await run(node20, ["program.mjs"], { cwd: project, env })
      : installed;
  const isGood = ran.exitCode === 0 && ran.output.includes(`${engines} engines work`);
  const text = isGood ? "works" : "fails";
  if (!isGood) failures++;
  console.log(`${isGood ? "ok" : "FAILED"}  ${key} ${flags.join(" ")}: ${text}`);
  if (!isGood) console.log(ran.output.slice(-1500));
  return text;
}

function tableOf(rows) {
  const head = [
    "package manager",
    "as it is",
    "without scripts",
    "without optional packages (LevelDB)",
  ];
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}

function update(table) {
  const text = readFileSync(page, "utf8");
  const before = /\| package manager \|(?:.*\n)(?:\|.*\n)*/;
  if (!before.test(text)) throw new Error("docs/runtimes.md has no table of package managers.");
  writeFileSync(page, text.replace(before, table));
}
