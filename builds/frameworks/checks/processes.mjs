// Several processes of PM2 and of node:cluster with one folder: one owns it, the others attach.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "./checks.mjs";
import { checkStatus, freePort, post, requests, untilAnswered, withServer } from "./server.mjs";

const execute = promisify(execFile);

/** Runs the program as three workers of a cluster, and kills the owner. */
export async function checkCluster(program) {
  await withServer({ ...program, args: ["cluster.js"] }, async (url) => {
    await checkProcesses(url);
    await checkKilledOwner(url);
  });
}

/** Runs the program as three processes of PM2, kills the owner, and reloads all of them. */
export async function checkPm2({ folder, cwd, env }) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const own = {
    ...env,
    DATABASE: `${env.DATABASE}-pm2`,
    PORT: String(port),
    PM2_HOME: join(folder, "pm2"),
    PM2_DISABLE_VERSION_CHECK: "true",
  };
  const script = join(folder, "node_modules/pm2/bin/pm2");
  const pm2 = (...args) => execute(process.execPath, [script, ...args], { cwd, env: own });
  try {
    await pm2("start", "ecosystem.config.cjs");
    await untilAnswered(url, () => false);
    await checkProcesses(url);
    await checkKilledOwner(url);

    // Each process is replaced by a new one, and no request fails.
    const before = await seen(url);
    let isOver = false;
    const reloaded = pm2("reload", "app").finally(() => {
      isOver = true;
    });
    let answered = 0;
    for (; !isOver; answered++) await checkStatus(url, requests[0][0], 409);
    await reloaded;
    const after = await seen(url);
    if ([...after.processes].some((pid) => before.processes.has(pid)))
      throw new Error("a process was not replaced");
    return `${answered} requests during pm2 reload, none failed`;
  } finally {
    await pm2("kill");
  }
}

/** Three processes answer, one of them owns the folder, and all see the same rows. */
async function checkProcesses(url) {
  await until(() => seen(url).then(({ processes }) => processes.size === 3), "three processes");
  const { owners, processes } = await seen(url);
  if (owners.size !== 1 || !processes.has([...owners][0]))
    throw new Error(`the owners are ${[...owners]}, the processes are ${[...processes]}`);
  for (const [body, expected] of requests) await checkStatus(url, body, expected);
  for (let n = 0; n < 6; n++) await checkStatus(url, requests[0][0], 409);
}

/** The process that owns the folder is killed. Another takes over, and a new one is started. */
async function checkKilledOwner(url) {
  const { owners } = await seen(url);
  const [killed] = owners;
  process.kill(killed, "SIGKILL");
  // Until the primary knows it, Node.js gives the dead process connections, which then hang.
  await until(() => !isAlive(killed), "the end of the killed process");
  for (let n = 0; n < 30; n++) {
    const body = JSON.stringify({ name: "Someone", email: `someone${n}@example.com` });
    await checkStatus(url, body, 201);
  }
  await until(async () => {
    const { owners, processes } = await seen(url);
    return processes.size === 3 && owners.size === 1 && !owners.has(killed);
  }, "another owner and a third process");
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The ids of the processes that answer some requests, and of the owners that they name. */
async function seen(url) {
  const answers = await Promise.all(Array.from({ length: 12 }, () => post(url, "no JSON")));
  const ids = (name) => new Set(answers.map(({ headers }) => Number(headers.get(name))));
  return { processes: ids("process"), owners: ids("owner") };
}
