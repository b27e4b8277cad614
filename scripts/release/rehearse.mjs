// `npm run release:rehearse`: does everything that a release does, with a registry on loopback and
// a clone in a temporary folder. Nothing leaves the machine, and this repository does not change.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namesToInstall, newProject, typeFirstSteps, walkFirstSteps } from "./first-steps.mjs";
import { jsrDryRun } from "./jsr.mjs";
import { startRegistry } from "./registry.mjs";
import { done } from "./run.mjs";
import { publishedPackages, root, scratchClone } from "./scratch-clone.mjs";
import { installTool, versionOf } from "./tools.mjs";
import { upgradeProject } from "./upgrade.mjs";

const started = Date.now();
const step = (text) =>
  console.log(`${((Date.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}`);
const folder = mkdtempSync(join(tmpdir(), "keywright-release-"));
const clone = join(folder, "clone");
const registry = await startRegistry(join(folder, "registry"));
try {
  const options = { env: registry.env };
  const npm = [await installTool("npm11"), "install", "--no-audit", "--no-fund"];
  const pnpm = [await installTool("pnpm"), "add"];
  const names = namesToInstall();

  await scratchClone(clone);
  const [before] = publishedPackages(clone).map(({ manifest }) => manifest.version);
  await publishAll(before);
  const old = join(folder, "old");
  await newProject(old, npm, names, options);
  await walkFirstSteps(old, options);
  step(`a project on version ${before} has data`);

  await done(process.execPath, [join(root, "node_modules/@changesets/cli/bin.js"), "version"], {
    cwd: clone,
  });
  const packages = publishedPackages(clone);
  const [version] = packages.map(({ manifest }) => manifest.version);
  checkVersions(packages, version);
  await done("git", ["commit", "--quiet", "--all", "--message", `Version ${version}`], {
    cwd: clone,
  });
  step(`Changesets: ${before} → ${version}, and change logs`);
  await publishAll(version);

  for (const [manager, install] of Object.entries({ npm11: npm, pnpm })) {
    const project = join(folder, manager);
    await newProject(project, install, names, options);
    const found = await walkFirstSteps(project, options);
    if (found !== version) throw new Error(`${manager} installed ${found} instead of ${version}.`);
    step(`${manager} ${versionOf(manager)}: installed by name; the first steps of the README work`);
  }
  if (process.platform === "linux") {
    await typeFirstSteps(join(folder, "terminal"), options);
    step("the first steps of the README, typed into a terminal, work");
  }
  const upgraded = await upgradeProject(old, npm, names, version, options);
  step(
    `upgraded from ${before}: reads its rows (${upgraded.rows}); ${upgraded.plan}; ${upgraded.verified}`,
  );
  await tellRealRelease(packages, version);
} finally {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
}

async function publishAll(version) {
  for (const { folder: own, manifest } of publishedPackages(clone)) {
    // Provenance needs the identity that only the workflow on a host has.
    const args = ["publish", "--access", "public", "--provenance=false", "--ignore-scripts"];
    await done("npm", args, { cwd: own, env: registry.env });
    const stored = await fetch(`${registry.url}${manifest.name.replace("/", "%2f")}`).then(
      (answer) => answer.json(),
    );
    if (stored["dist-tags"]?.latest !== version)
      throw new Error(
        `The registry has ${manifest.name} ${stored["dist-tags"]?.latest}, not ${version}.`,
      );
  }
  step(
    `published ${publishedPackages(clone).length} packages in version ${version} on ${registry.url}`,
  );
}

/** All packages have one version, and depend on each other in that version. */
function checkVersions(packages, version) {
  for (const { folder: own, manifest } of packages) {
    if (manifest.version !== version)
      throw new Error(`${manifest.name} has version ${manifest.version}, the others ${version}.`);
    for (const [name, range] of Object.entries(manifest.dependencies ?? {}))
      if (name.startsWith("@keywright/") && range !== version)
        throw new Error(`${manifest.name} depends on ${name} ${range} instead of ${version}.`);
    const log = readFileSync(join(own, "CHANGELOG.md"), "utf8");
    if (!log.includes(`## ${version}`))
      throw new Error(`${manifest.name} has no change log of ${version}.`);
  }
}

async function tellRealRelease(packages, version) {
  console.log(`\nA release of version ${version} would publish:`);
  for (const { folder: own, manifest } of packages) {
    const [packed] = JSON.parse(
      await done("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: own }),
    );
    const kilobytes = (packed.size / 1000).toFixed(0);
    console.log(
      `  ${manifest.name}: ${packed.entryCount} files, ${kilobytes} kB; ${readiness(manifest)}`,
    );
  }
  console.log(`
By the workflow release.yml: \`npm publish --provenance\` with the token of trusted publishing, which each
package of npmjs.com must allow for this repository and this workflow. JSR:`);
  const core = packages.find(({ manifest }) => manifest.name === "@keywright/core");
  const orm = packages.find(({ manifest }) => manifest.name === "@keywright/orm");
  const ownCore = join(folder, "jsr/core");
  await tellJsr(core, ownCore, []);
  const subpaths = Object.entries(core.manifest.exports)
    .filter(([path, { types }]) => path !== "." && types !== undefined)
    .map(([path, { types }]) => [
      `@keywright/core${path.slice(1)}`,
      `../core/${types
        .slice(2)
        .replace("dist/", "src/")
        .replace(/\.d\.ts$/, ".ts")}`,
    ]);
  await tellJsr(orm, join(folder, "jsr/orm"), [
    { name: "@keywright/core", entry: "../core/src/index.ts", subpaths },
  ]);
}

/** What provenance and trusted publishing ask of a package. */
function readiness({ repository, license, name }) {
  const missing = [];
  if (!/^git\+https:\/\/github\.com\//.test(repository?.url ?? "")) missing.push("repository.url");
  if (repository?.directory === undefined) missing.push("repository.directory");
  if (license === undefined) missing.push("license");
  if (!name.startsWith("@")) missing.push("a scope");
  return missing.length === 0 ? "ready for provenance" : `provenance needs ${missing.join(", ")}`;
}

async function tellJsr({ folder: source, manifest }, to, others) {
  const { passes, problems, changed, output } = await jsrDryRun(source, to, { others });
  if (passes) {
    console.log(
      `  ${manifest.name}: \`deno publish --dry-run\` passes, after ${changed} endings of imports were changed from .js to .ts`,
    );
    return;
  }
  console.log(
    `  ${manifest.name}: stopped, after ${changed} endings of imports were changed from .js to .ts, by:`,
  );
  for (const { problem, count } of problems) console.log(`    ${count} × ${problem}`);
  if (problems.length === 0) console.log(output.trim().split("\n").slice(-8).join("\n"));
}
