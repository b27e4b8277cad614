// Programs that bundlers have built from the packed packages run as the packages themselves do.
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import commonjs from "@rollup/plugin-commonjs";
import json from "@rollup/plugin-json";
import nodeResolve from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { rollup } from "rollup";
import { build as viteBuild } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import webpack from "webpack";
import { nodeWithSqlite } from "../../scripts/with-sqlite.mjs";
import { packedProject } from "./packed-project.js";
import { program } from "./program.js";

const execute = promisify(execFile);

/** Packages with native code, and one that `pg` loads only if it is installed. */
const external = ["classic-level", "lmdb", "pg-native"];

let project;
let entry;
beforeAll(async () => {
  project = await packedProject(["core", "orm", "lmdb", "sqlite", "etcd", "postgres", "server"]);
  entry = join(project.folder, "program.mjs");
  await writeFile(entry, program);
});
afterAll(() => project.remove());

/** Checks that a bundle runs on this Node.js, and on one that has SQLite. */
async function checkRuns(file) {
  expect(await run(process.execPath, file)).toMatch(/^done(, also on SQLite)?\n$/);
  // Node.js 22 warns of its SQLite.
  const options = ["--disable-warning=ExperimentalWarning"];
  expect(await run(nodeWithSqlite(), ...options, file)).toBe("done, also on SQLite\n");
}

/** Runs a program, and returns what it printed. */
async function run(program, ...args) {
  const data = await mkdtemp(join(project.folder, "data-"));
  const { stdout, stderr } = await execute(program, [...args, data], { cwd: project.folder });
  return stdout + stderr;
}

/** CommonJS packages in a bundle of ES modules need `require` for the modules of Node.js. */
const requireBanner =
  "import * as nodeModule from 'node:module'; const require = nodeModule.createRequire(import.meta.url);";

it.each(["cjs", "esm"])("esbuild: %s", async (format) => {
  const file = `esbuild.${format === "cjs" ? "cjs" : "mjs"}`;
  const { warnings } = await esbuild.build({
    entryPoints: [entry],
    absWorkingDir: project.folder,
    bundle: true,
    minify: true,
    platform: "node",
    format,
    external,
    outfile: file,
    ...(format === "esm" && { banner: { js: requireBanner } }),
  });
  expect(warnings).toEqual([]);
  await checkRuns(file);
});

it("webpack, for production", async () => {
  const build = promisify(webpack);
  const stats = await build({
    mode: "production",
    target: "node",
    context: project.folder,
    entry,
    output: { path: project.folder, filename: "webpack.cjs" },
    // A second pass takes longer than all else, and finds little more to shorten.
    optimization: { minimizeOptions: { javascript: { compress: { passes: 1 } } } },
    externals: Object.fromEntries(external.map((name) => [name, `commonjs ${name}`])),
  });
  expect(stats?.toString({ preset: "errors-only" })).toBe("");
  await checkRuns("webpack.cjs");
});

// Vite builds ES modules with Rollup.
it("Rollup, as CommonJS", async () => {
  const bundle = await rollup({
    input: entry,
    external,
    plugins: [nodeResolve({ preferBuiltins: true }), commonjs(), json()],
    onwarn: () => {},
  });
  const file = join(project.folder, "rollup.cjs");
  await bundle.write({ file, format: "cjs", inlineDynamicImports: true });
  await bundle.close();
  await checkRuns("rollup.cjs");
});

it("Vite, for server-side rendering", async () => {
  await viteBuild({
    root: project.folder,
    logLevel: "error",
    configFile: false,
    ssr: { noExternal: true, external },
    build: { ssr: entry, outDir: "vite", minify: true, rollupOptions: { external } },
  });
  await checkRuns("vite/program.mjs");
});
