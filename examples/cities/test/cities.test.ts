import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKv } from "@keywright/core";
import { afterAll, beforeAll, expect, it } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const total = 135_233;

let path: string;
beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), "keywright-cities-"));
});
afterAll(() => rm(path, { recursive: true }));

/** Runs the program to its end, or sends it the signal once its progress matches `stopAt`. */
async function run(stopAt?: RegExp, signal?: NodeJS.Signals, args = [path]) {
  const child = spawn(process.execPath, [main, ...args]);
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
    if (stopAt?.test(errors)) child.kill(signal);
  });
  const [code, endedBy] = await once(child, "close");
  // Deno reports a child's exit code of 130 as the signal that it stands for.
  return { code: endedBy === "SIGINT" ? 130 : code, output, errors };
}

async function count(prefix: string): Promise<number> {
  const kv = await openKv(path);
  try {
    let entries = 0;
    for await (const _ of kv.list({ prefix: [prefix] }, { batchSize: 500 })) entries++;
    return entries;
  } finally {
    await kv.close();
  }
}

it("loads every city once, stopped by Ctrl-C in the middle and run again", async () => {
  const stopped = await run(/^cities {2}[1-9].* rows/m, "SIGINT");
  expect(stopped.code).toBe(130);
  expect(stopped.output).toContain("Stopped. Run it again");
  expect(await count("cities")).toBeLessThan(total);

  const killed = await run(/byPopulation {2}[1-9].* rows /, "SIGKILL");
  expect(killed.code).toBeNull();
  expect(killed.output).toContain("Loading the remaining cities, after ");
  expect(await count("cities")).toBe(total);
  expect(await count("cities_by_city_id")).toBe(total);
  expect(await count("cities_by_country")).toBe(total);
  expect(await count("cities_by_population")).toBeLessThan(total);
}, 600_000);

it("continues the index where it was killed, and queries it", async () => {
  const { code, output } = await run();
  expect(code).toBe(0);
  expect(output).toContain("135,233 cities are already loaded");
  expect(output).toContain("cities.findByCityId(2988507)");
  expect(output).toMatch(/Paris.*FR.*2,138,551/);
  expect(output).toMatch(/^Cursor of the next page: [\w-]+$/m);
  expect(output).toMatch(/^135,233 rows indexed and verified \([\d.]+ s in this run\)$/m);
  const [, largest = ""] = output.split("listByPopulation");
  const names = [...largest.matchAll(/│ +\d+ +│ ['"]?([^'"│]+?)['"]? +│/g)].map(([, name]) => name);
  expect(names).toHaveLength(10);
  expect(names.slice(0, 3)).toEqual(["Shanghai", "Istanbul", "Buenos Aires"]);
  expect(await count("cities_by_population")).toBe(total);
}, 600_000);

it("finds its data and its index in the next run", async () => {
  const { code, output } = await run();
  expect(code).toBe(0);
  expect(output).toContain("135,233 cities are already loaded");
  expect(output).toContain("The index byPopulation is already built");
});

it("prints one line if another process keeps the database to itself", async () => {
  const kv = await openKv(path, { attach: false });
  try {
    const { code, errors } = await run();
    expect(code).toBe(1);
    expect(errors).toMatch(/^KW_DATABASE_LOCKED: .*\n$/);
  } finally {
    await kv.close();
  }
});

it("runs in memory", async () => {
  const args = ["--engine", "memory"];
  const { code, output } = await run(/^cities {2}[1-9].* rows/m, "SIGINT", args);
  expect(code).toBe(130);
  expect(output).toContain("Database: in memory");
}, 180_000);

it.each([
  ["etcd", "http://127.0.0.1:1", "etcd --data-dir data-etcd"],
  ["postgres", "postgres://postgres@127.0.0.1:1/postgres", "initdb -D data-postgres"],
])(
  "prints the command that starts a server if none is running: %s",
  async (engine, url, command) => {
    const { code, errors } = await run(undefined, undefined, ["--engine", engine, url]);
    expect(code).toBe(1);
    expect(errors).toMatch(/^No .* answers. To start one/);
    expect(errors).toContain(command);
  },
);

it("refuses an unknown engine", async () => {
  const { code, errors } = await run(undefined, undefined, ["--engine", "other"]);
  expect(code).toBe(2);
  expect(errors).toBe("--engine other: must be memory, leveldb, sqlite, etcd, postgres\n");
});
