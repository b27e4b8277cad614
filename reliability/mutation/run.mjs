// Changes the sources in small ways and counts the changes that no test notices: `npm run
// soak:mutation -- --areas keys,values --fraction 0.2`. Installs Stryker first.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeResults } from "../shared/write-results.mjs";
import { areas } from "./areas.mjs";
import { assertAllRan, percent, summary } from "./summary.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
const results = new URL("../results/mutation.json", import.meta.url);

const { values } = parseArgs({
  options: {
    areas: { type: "string", default: Object.keys(areas).join(",") },
    fraction: { type: "string", default: "0.1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

install();
/** The figures of the areas that are not run now stay. */
const figures = existsSync(results) ? JSON.parse(readFileSync(results, "utf8")).figures : {};
for (const name of values.areas.split(",")) {
  figures[name] = measure(name);
  const line = Object.entries(figures)
    .map(
      ([area, { noticed, changes }]) =>
        `${area}: ${noticed} of ${changes} (${percent(noticed, changes)})`,
    )
    .join("; ");
  writeResults("mutation", figures, `changes that a test notices: ${line}`, false);
}

function install() {
  if (existsSync(join(here, "node_modules/@stryker-mutator/core"))) return;
  const { status } = spawnSync("npm ci --loglevel=error --no-audit --no-fund", {
    cwd: here,
    stdio: "inherit",
    shell: true,
  });
  if (status !== 0) throw new Error(`npm ci failed in ${here}.`);
}

/** Runs Stryker on a copy of the package. Prints the changes that no test notices. */
function measure(name) {
  const area = areas[name];
  const copy = mkdtempSync(join(tmpdir(), "keywright-mutation-"));
  try {
    const folder = copyPackage(area.package, copy);
    configure(area, folder);
    const { status } = spawnSync(
      process.execPath,
      [join(here, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run"],
      {
        cwd: folder,
        stdio: "inherit",
        env: {
          ...process.env,
          KEYWRIGHT_SAMPLE: JSON.stringify({
            fraction: Number(values.fraction),
            seed: Number(values.seed),
          }),
        },
      },
    );
    if (status !== 0) throw new Error(`Stryker failed for ${name}.`);
    const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
    assertAllRan(report, testFilesOf(area, folder));
    return summary(report);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function copyPackage(name, copy) {
  const files = ["vitest.shared.mjs", "tsconfig.base.json", "package.json", "docs/errors.md"];
  for (const file of files) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  // The configuration of TypeScript refers to those of other packages.
  for (const each of ["core", "orm"])
    cpSync(
      join(root, "packages", each, "tsconfig.json"),
      join(copy, "packages", each, "tsconfig.json"),
    );
  const folder = join(copy, "packages", name);
  for (const part of ["dist", "src", "test", "package.json", "tsconfig.json", "vitest.config.ts"])
    cpSync(join(root, "packages", name, part), join(folder, part), {
      recursive: true,
      filter: (path) => !path.endsWith("node_modules"),
    });
  return folder;
}

/** The files of tests of an area, relative to the package. */
function testFilesOf({ tests }, folder) {
  const patterns = tests.map((test) => new RegExp(`^${test.replaceAll("*", ".*")}\\.test\\.ts$`));
  return readdirSync(join(folder, "test"))
    .filter((file) => patterns.some((pattern) => pattern.test(file)))
    .map((file) => `test/${file}`);
}

function configure({ mutate, tests }, folder) {
  const plugin = (name) => join(here, name);
  const include = tests.map((test) => `test/${test}.test.ts`);
  writeFileSync(
    join(folder, "vitest.mutation.config.ts"),
    `import config from "./vitest.config.js";
export default { ...config, test: { ...config.test, include: ${JSON.stringify(include)} } };
`,
  );
  writeFileSync(
    join(folder, "stryker.config.json"),
    JSON.stringify({
      testRunner: "vitest",
      plugins: [
        plugin("node_modules/@stryker-mutator/vitest-runner/dist/src/index.js"),
        plugin("sample.mjs"),
      ],
      ignorers: ["sample"],
      ignoreStatic: true,
      mutate,
      inPlace: true,
      concurrency: 2,
      coverageAnalysis: "perTest",
      reporters: ["clear-text", "json"],
      clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
      jsonReporter: { fileName: "report.json" },
      vitest: { configFile: "vitest.mutation.config.ts", related: false },
      disableTypeChecks: true,
      timeoutMS: 20_000,
      checkers: [],
      allowConsoleColors: false,
    }),
  );
}
