import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { installRuntimes } from "../../../scripts/runtimes/install.mjs";
import { runtimes } from "../../../scripts/runtimes/runtimes.mjs";
import { checkDocker } from "./docker.mjs";
import { checkCluster, checkPm2 } from "./processes.mjs";
import {
  checkForm,
  checkLiveQuery,
  checkStatus,
  openEvents,
  post,
  requests,
  withServer,
} from "./server.mjs";

const execute = promisify(execFile);

/**
 * By the folder of a program: builds it if it has to be built, runs it and throws if it does not
 * do what it should.
 */
export const checks = {
  express: (program) => checkServer({ ...program, args: ["server.cjs"] }),
  fastify: (program) => checkServer({ ...program, args: ["server.js"] }),
  async next({ folder, ...program }) {
    const next = [join(folder, "node_modules/next/dist/bin/next")];
    await execute("npm", ["run", "build"], program);
    await checkServer({ ...program, args: [...next, "start"], form: true });
    await checkReload({ ...program, args: [...next, "dev"], module: "lib/database.js" });
  },
  async sveltekit({ folder, ...program }) {
    // Needs a newer Node.js than the oldest one that Keywright runs on.
    const node = runtime("node24");
    const vite = join(folder, "node_modules/vite/bin/vite.js");
    await execute(node, [vite, "build"], program);
    const env = { ...program.env, PROTOCOL_HEADER: "x-forwarded-proto" };
    const built = { ...program, env, program: node, args: ["build/index.js"] };
    await checkServer({ ...built, form: true });
    const args = (port) => [vite, "dev", "--host", "127.0.0.1", "--port", String(port)];
    const module = "src/lib/server/database.js";
    await checkReload({ ...program, program: node, args, module });
  },
  async vite(program) {
    await execute("npm", ["run", "build"], program);
    const env = { ...program.env, NODE_ENV: "production" };
    await checkServer({ ...program, env, args: ["server.js"], page: true, live: false });
    await checkReload({ ...program, args: ["server.js"], module: "src/database.js" });
  },
  async processes(program) {
    await checkCluster(program);
    return await checkPm2(program);
  },
  docker: checkDocker,
  async systemd({ cwd }) {
    const unit = join(cwd, "app.service");
    const text = await readFile(unit, "utf8");
    // The program of the unit must exist.
    await writeFile(unit, text.replace("/usr/bin/node", process.execPath));
    const verify = execute("systemd-analyze", ["verify", unit]);
    const printed = await verify.catch((error) => error);
    if (printed.code === "ENOENT") return "skipped, because systemd-analyze is not installed";
    if (printed.stderr !== "") throw new Error(printed.stderr);
  },
  async deno({ folder, env }) {
    await mkdir(join(folder, "data"));
    const permissions = [
      "--no-prompt",
      "--allow-env",
      "--allow-read=data,node_modules,/etc/alpine-release",
      "--allow-write=data",
      "--allow-ffi=node_modules",
    ];
    const args = ["run", ...permissions, "deno/main.ts", "data/app"];
    for (let n = 0; n < 2; n++) {
      const { stdout } = await execute(runtime("deno"), args, { cwd: folder, env });
      if (stdout !== "ada@example.com\n") throw new Error(`Deno printed ${stdout}`);
    }
  },
  jest: (program) => execute("npm", ["test"], program).then(() => undefined),
  async vitest(program) {
    for (const pool of ["forks", "threads"])
      await execute("npm", ["test", "--", `--pool=${pool}`], program);
  },
};

function runtime(name) {
  const [installed] = installRuntimes(runtimes.filter((each) => each.name === name));
  return installed.program;
}

/** Starts a server twice: the rows of the first time are there in the second. */
async function checkServer({ page = false, form = false, live = true, ...program }) {
  const printed = await withServer(program, async (url) => {
    for (const [body, expected] of requests) await checkStatus(url, body, expected);
    if (live) await checkLiveQuery(url);
    if (form) await checkForm(url);
    if (!page) return;
    const text = await (await fetch(url)).text();
    if (!text.includes("Ada")) throw new Error("the page does not show the row");
  });
  if (live && !printed.includes("a live query has ended"))
    throw new Error(`the live query did not end when its client was gone:\n${printed}`);
  // The database was closed, or its lock was freed. A live query does not hold the server up.
  await withServer(program, async (url) => {
    await checkStatus(url, requests[0][0], 409);
    if (live) await (await openEvents(url)).until("ada@example.com");
  });
}

/**
 * Changes the model while a server for development runs. The server keeps its database, and loads
 * the new model.
 */
async function checkReload({ module, ...program }) {
  const file = join(program.cwd, module);
  const text = await readFile(file, "utf8");
  const env = { ...program.env, DATABASE: `${program.env.DATABASE}-dev` };
  await withServer({ ...program, env }, async (url) => {
    await checkStatus(url, requests[0][0], 201);
    await writeFile(file, text.replace("min(1)", `min(1).refine((name) => name !== "A")`));
    const isLoaded = async () => {
      const { status } = await post(url, '{ "name": "A", "email": "a@example.com" }');
      if (status === 500) throw new Error("the changed module cannot be loaded");
      return status === 400;
    };
    await until(isLoaded, "the changed model to be loaded");
    await checkStatus(url, requests[0][0], 409);
  });
  await writeFile(file, text);
}

/** Waits until a condition holds. */
export async function until(holds, what) {
  for (const started = performance.now(); !(await holds()); ) {
    if (performance.now() - started > 120_000) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
