import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

const packages = [
  ...["classic-level", "lmdb", "@deno/kv", "zod", "mitata", "drizzle-orm"],
  ...["better-sqlite3", "kysely", "prisma", "dexie", "fake-indexeddb"],
];

/** Describes the machine, the day and the versions of what is measured. */
export function machine() {
  const [cpu] = cpus();
  return {
    day: new Date().toISOString().slice(0, 10),
    machine: `${cpu.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory; ${type()} ${release()}; Node.js ${process.versions.node}`,
    versions: Object.fromEntries(packages.map((name) => [name, installedVersion(name)])),
  };
}

function installedVersion(name) {
  for (const folder of ["../peers/node_modules/", "../node_modules/", "../../node_modules/"]) {
    try {
      const file = new URL(`${folder}${name}/package.json`, import.meta.url);
      return JSON.parse(readFileSync(file, "utf8")).version;
    } catch {}
  }
  return "not installed";
}
