// `npm run bench:jobs`: jobs a second of Keywright, pg-boss and BullMQ, in turn, and prints the
// table of docs/jobs.md. `-- --jobs 20000 --rounds 5` measures more. Needs PostgreSQL, and Redis
// for BullMQ.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { hasPostgres, startPostgres } from "../../reliability/shared/servers.mjs";

const { values } = parseArgs({
  options: {
    jobs: { type: "string", default: "5000" },
    rounds: { type: "string", default: "3" },
  },
});
const peers = fileURLToPath(new URL("peers/", import.meta.url));
const program = fileURLToPath(new URL("measure-queue.mjs", import.meta.url));
if (!existsSync(join(peers, "node_modules"))) {
  const options = { cwd: peers, stdio: "inherit" };
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], options);
}
const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;
const names = ["Keywright on LevelDB"];
if (hasPostgres) names.push("Keywright on PostgreSQL", "pg-boss on PostgreSQL");
else console.log("PostgreSQL is not installed: its rows are missing.");
if (hasRedis) names.push("BullMQ on Redis");
else console.log("Redis is not installed: its row is missing.");

const figures = new Map(names.map((name) => [name, []]));
for (let round = 0; round < Number(values.rounds); round++)
  for (const name of names) figures.get(name).push(await measured(name));

console.log("| | enqueued a second | run a second | CPU time of the process, in µs a job |");
console.log("| --- | --- | --- | --- |");
for (const [name, rounds] of figures) {
  const shown = [
    middle(rounds.map(({ enqueued }) => enqueued.rate)),
    middle(rounds.map(({ worked }) => worked.rate)),
    middle(rounds.map(({ enqueued, worked }) => enqueued.cpu + worked.cpu)),
  ];
  console.log(
    `| ${[name, ...shown.map((n) => Math.round(n).toLocaleString("en-US"))].join(" | ")} |`,
  );
}

function middle(numbers) {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

/** Measures a queue once, on a server that is new. */
async function measured(name) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-bench-jobs-"));
  const postgres = name.includes("PostgreSQL") ? await startPostgres([]) : undefined;
  const redis = name.includes("Redis") ? await startRedis(folder) : undefined;
  try {
    const places = { folder, postgres: postgres?.url, redis: redis?.port };
    const argument = JSON.stringify([name, Number(values.jobs), places]);
    const child = spawn(process.execPath, [program, argument], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`${name} ended with ${code}`);
    console.error(name, printed.trim());
    return JSON.parse(printed);
  } finally {
    await postgres?.remove();
    await redis?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts Redis with a log that is synced every second, as its documentation recommends. */
async function startRedis(folder) {
  const port = await freePort();
  const options = { port, bind: "127.0.0.1", dir: folder, save: "", appendonly: "yes" };
  const args = Object.entries(options).flatMap(([option, value]) => [`--${option}`, String(value)]);
  const server = spawn("redis-server", args, { stdio: "ignore" });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const stop = async () => {
    server.kill();
    await ended;
  };
  return { port, stop };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
