import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { done } from "./run.mjs";
import { installTool } from "./tools.mjs";

/** Milliseconds in which the registry must answer. */
const patience = 60_000;

/**
 * Starts a registry on loopback that keeps `@keywright/*` itself and gets everything else from the
 * registry of the machine.
 */
export async function startRegistry(folder) {
  const script = await installTool("verdaccio");
  const upstream = (await done("npm", ["config", "get", "registry"])).trim();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "config.yaml");
  writeFileSync(config, settings(folder, upstream));
  const npmrc = join(folder, "npmrc");
  // npm asks for some token. The registry takes any, and packages from anybody.
  writeFileSync(npmrc, `registry=${url}\n//127.0.0.1:${port}/:_authToken=rehearsal\n`);

  const child = spawn(
    process.execPath,
    [script, "--config", config, "--listen", `127.0.0.1:${port}`],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output = (output + text).slice(-4000);
    });
  // A script that is stopped takes the registry with it.
  const stop = () => process.exit(1);
  process.once("exit", () => child.kill());
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  const ended = new Promise((resolve) => child.once("close", resolve));
  const close = async () => {
    child.kill();
    await ended;
  };
  const deadline = Date.now() + patience;
  while (!(await answers(url))) {
    if (Date.now() > deadline || child.exitCode !== null) {
      await close();
      throw new Error(`The registry did not start:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  // Package managers read one of these.
  const env = {
    npm_config_registry: url,
    NPM_CONFIG_USERCONFIG: npmrc,
    YARN_NPM_REGISTRY_SERVER: url,
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    BUN_CONFIG_REGISTRY: url,
  };
  return { url, env, close };
}

async function answers(url) {
  return await fetch(`${url}-/ping`).then(
    (response) => response.ok,
    () => false,
  );
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function settings(folder, upstream) {
  return `storage: ${JSON.stringify(join(folder, "storage"))}
uplinks:
  upstream:
    url: ${JSON.stringify(upstream)}
    timeout: 60s
    max_fails: 100
packages:
  "@keywright/*":
    access: $all
    publish: $all
    unpublish: $all
  "**":
    access: $all
    proxy: upstream
max_body_size: 100mb
log: { type: stdout, format: pretty, level: warn }
`;
}
