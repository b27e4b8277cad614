// `npm run test:slow`: runs the script of this name of each workspace that has one, and checks the
// packed packages.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runTasks } from "./run-tasks.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * The folders whose tests take longest, the longest first. Each of them runs its files one after
 * another, so a long one that began last would run alone at the end. The others come after them.
 */
const longest = [
  ...["packages/codegen", "packages/postgres", "packages/orm", "packages/etcd"],
  ...["packages/studio", "reliability", "packages/core", "builds"],
];
/** One more than CI has processors, because tests sometimes wait. */
const atOnce = 3;

const scripts = folders()
  .filter((folder) => manifestOf(folder).scripts?.["test:slow"] !== undefined)
  .sort((a, b) => rank(a) - rank(b))
  .map((folder) => ({
    title: `The slow tests of ${folder}`,
    program: "npm",
    args: ["run", "--silent", "test:slow"],
    cwd: join(root, folder),
  }));
const packed = {
  title: "The packed packages",
  program: process.execPath,
  args: [join(root, "scripts/check-packed.mjs")],
};
await runTasks([...scripts, packed], atOnce);

function rank(folder) {
  const place = longest.indexOf(folder);
  return place === -1 ? longest.length : place;
}

/** Returns the folders of all workspaces. */
function folders() {
  return manifestOf(".").workspaces.flatMap((pattern) => {
    const [parent, isAll] = pattern.split("/*");
    if (isAll === undefined) return [pattern];
    return readdirSync(join(root, parent))
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, "package.json")));
  });
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}
