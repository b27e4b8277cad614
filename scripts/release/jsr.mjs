import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installRuntimes } from "../runtimes/install.mjs";
import { runtimes } from "../runtimes/runtimes.mjs";
import { run } from "./run.mjs";

/**
 * Tries to publish a package on JSR, without publishing it. The sources are copied, and get what
 * JSR asks for: endings `.ts` in imports, and a `deno.json` made from package.json.
 *
 * @returns what stops it: the distinct problems and how many times each was found.
 */
export async function jsrDryRun(source, folder, { others = [] } = {}) {
  const [deno] = installRuntimes(runtimes.filter(({ name }) => name === "deno"));
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  mkdirSync(folder, { recursive: true });
  for (const name of ["src", "README.md", "LICENSE"])
    cpSync(join(source, name), join(folder, name), { recursive: true });
  const changed = withEndings(join(folder, "src"));
  writeFileSync(
    join(folder, "deno.json"),
    `${JSON.stringify(settingsOf(manifest, others), null, 2)}\n`,
  );
  const args = ["publish", "--dry-run", "--allow-dirty"];
  const { exitCode, output } = await run(deno.program, args, { cwd: folder });
  return { passes: exitCode === 0, problems: problemsIn(output), changed, output };
}

function settingsOf(
  { name, version, license, exports, imports: own = {}, dependencies = {}, peerDependencies = {} },
  others,
) {
  const imports = Object.entries({ ...dependencies, ...peerDependencies }).map(([used, range]) => {
    const local = others.find((other) => other.name === used);
    return [used, local === undefined ? `npm:${used}@${range}` : local.entry];
  });
  // JSR has no conditions: its packages are for runtimes with the modules of Node.js.
  const files = Object.entries(own).map(([used, { node }]) => [
    used,
    node.replace("./dist/", "./src/").replace(/\.js$/, ".ts"),
  ]);
  const subpaths = others.flatMap(({ subpaths = [] }) => subpaths);
  return {
    name,
    version,
    license,
    exports: Object.fromEntries(
      Object.entries(exports)
        .filter(([, { types }]) => types !== undefined)
        .map(([path, { types }]) => [
          path,
          types.replace("./dist/", "./src/").replace(/\.d\.ts$/, ".ts"),
        ]),
    ),
    imports: Object.fromEntries([...imports, ...files, ...subpaths]),
    // As in tsconfig.base.json. Deno has no setting of its own for them.
    compilerOptions: {
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noImplicitOverride: true,
    },
    publish: { include: ["src", "README.md", "LICENSE", "deno.json"] },
  };
}

/** Imports of other files end with `.js` for Node.js. JSR wants the name of the file itself. */
function withEndings(folder) {
  let count = 0;
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    if (!name.endsWith(".ts") || !statSync(file).isFile()) continue;
    const text = readFileSync(file, "utf8");
    const changed = text.replaceAll(
      /((?:from|import) ?\(?)"(\.{1,2}\/[^"]*)\.js"/g,
      (_, before, path) => {
        count++;
        return `${before}"${path}.ts"`;
      },
    );
    if (changed !== text) writeFileSync(file, changed);
  }
  return count;
}

/** The problems that `deno publish` reports, as `code: first line`, with their number. */
function problemsIn(output) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors of a terminal begin with it.
  const lines = output.replaceAll(/\x1b\[[\d;]*m/g, "").split("\n");
  const counts = new Map();
  for (const [place, line] of lines.entries()) {
    const [, code, text] =
      /^(TS\d+) \[ERROR\]: (.*)$/.exec(line) ?? /^error\[([\w-]+)\]: (.*)$/.exec(line) ?? [];
    if (code === undefined) continue;
    const where = lines.slice(place, place + 14).find((each) => /\/src\/|^ *-->/.test(each)) ?? "";
    const file = /\/(src\/[^:]+)/.exec(where)?.[1] ?? "";
    const key = code.startsWith("TS")
      ? `${code} in ${file}: ${text.slice(0, 120)}`
      : `${code}: ${text.slice(0, 120)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([problem, count]) => ({ problem, count }));
}
