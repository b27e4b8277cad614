// `npm run api` compares the exports and signatures of each package with the reports in
// packages/*/api, and fails if they differ. `npm run api:update` rewrites the reports.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
} from "@microsoft/api-extractor";

const root = fileURLToPath(new URL("..", import.meta.url));
const temporary = join(root, "node_modules/.cache/keywright-api");
const isUpdate = process.argv.includes("--update");

const names = [
  "core",
  "orm",
  "codegen",
  "etcd",
  "postgres",
  "lmdb",
  "sqlite",
  "s3",
  "cron",
  "server",
  "studio",
];
const packages = names.map((name) => {
  const folder = join(root, "packages", name);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const entryPoints = Object.entries(manifest.exports).map(([entryPoint, { types }]) => ({
    name: join(manifest.name, entryPoint),
    types: join(folder, types),
    reportName: entryPoint === "." ? "index" : basename(entryPoint),
  }));
  return { name, folder, entryPoints };
});

/**
 * One program of the compiler for all entry points: most of the time is reading what they share.
 */
let compilerState;
let changed = 0;
for (const { name, folder, entryPoints } of packages) {
  const expected = new Set();
  for (const { name: entryPoint, types, reportName } of entryPoints) {
    expected.add(`${reportName}.api.md`);
    if (isAsReported(folder, types, reportName)) continue;
    changed++;
    console.error(`The exports of ${entryPoint} have changed.`);
  }
  for (const file of readdirSync(join(folder, "api"))) {
    if (expected.has(file)) continue;
    changed++;
    if (isUpdate) rmSync(join(folder, "api", file));
    else console.error(`packages/${name}/api/${file} belongs to no entry point.`);
  }
}
if (changed > 0 && !isUpdate) {
  console.error("If this is intended, run `npm run api:update` and commit the reports.");
  process.exitCode = 1;
}

/** Returns true if an entry point exports what its report says. Prints the lines that differ. */
function isAsReported(folder, types, reportName) {
  const reportFolder = join(folder, "api");
  mkdirSync(reportFolder, { recursive: true });
  const report = join(reportFolder, `${reportName}.api.md`);
  const before = existsSync(report) ? readFileSync(report, "utf8") : "";
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: types,
      newlineKind: "lf",
      compiler: { tsconfigFilePath: join(folder, "tsconfig.json") },
      apiReport: {
        enabled: true,
        reportFileName: `${reportName}.api.md`,
        reportFolder,
        reportTempFolder: join(temporary, basename(folder)),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        // No release tags and no strict TSDoc: biome and the docs' tests check the comments.
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.None },
          // A type that a signature uses but that is not exported. The report lists these.
          "ae-forgotten-export": { logLevel: ExtractorLogLevel.Warning, addToApiReportFile: true },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
    configObjectFullPath: join(folder, "api-extractor.json"),
    packageJsonFullPath: join(folder, "package.json"),
  });
  compilerState ??= CompilerState.create(config, {
    additionalEntryPoints: packages.flatMap(({ entryPoints }) => entryPoints.map((e) => e.types)),
  });
  const { apiReportChanged } = Extractor.invoke(config, {
    localBuild: isUpdate,
    compilerState,
    messageCallback: (message) => {
      message.handled = true;
      if (message.category === "Compiler") console.error(message.text);
    },
  });
  if (apiReportChanged) {
    const after = readFileSync(join(temporary, basename(folder), basename(report)), "utf8");
    printDifference(before, after);
  }
  return !apiReportChanged;
}

function printDifference(before, after) {
  const known = new Set(before.split("\n"));
  const now = new Set(after.split("\n"));
  for (const line of known) if (!now.has(line)) console.error(`- ${line}`);
  for (const line of now) if (!known.has(line)) console.error(`+ ${line}`);
}
