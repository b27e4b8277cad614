import { spawn } from "node:child_process";
import { once } from "node:events";
import { unlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openKv } from "@keywright/core";
import { afterEach, expect, it } from "vitest";
import { createProject, type Project } from "./project.js";

const command = fileURLToPath(new URL("../bin/keywright.js", import.meta.url));
const token = "0123456789abcdef";
const files = {
  "keywright.config.js": `import { openKv } from "@keywright/core";
export default { models: "models/*.ts", output: "db", database: () => openKv("data") };
`,
};

let project: Project;
afterEach(() => project.remove());

it.skipIf(process.platform === "win32")("serves the database until it is stopped", async () => {
  project = await createProject(files);
  const own = await openKv(project.path("data"));
  await own.set(["a"], 1);
  await own.close();
  const child = spawn(process.execPath, [command, "serve", "--port", "0"], {
    cwd: project.folder,
    env: { ...process.env, KEYWRIGHT_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = /^Serving (http:\S+)\n$/.exec(String(line))?.[1] ?? "";
  const remote = await openKv(url, { token });
  expect((await remote.get(["a"])).value).toBe(1);
  // Programs of the same machine attach to it.
  const attached = await openKv(project.path("data"));
  expect(attached.attached).toEqual({ pid: child.pid });
  await attached.set(["a"], 2);
  expect((await remote.get(["a"])).value).toBe(2);
  await Promise.all([remote.close(), attached.close()]);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

it("serves a folder without a configuration, with the endpoint of a proxy", async () => {
  project = await createProject({});
  const own = await openKv(project.path("data"), { compat: "deno" });
  await own.set(["a"], 1);
  await own.close();
  const args = [command, "serve", "data", "--port", "0", "--public-url", "https://kv.example.com/"];
  const child = spawn(process.execPath, args, {
    cwd: project.folder,
    env: { ...process.env, KEYWRIGHT_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = /^Serving (http:\S+)\n$/.exec(String(line))?.[1] ?? "";
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { method: "POST", headers });
  expect(await answer.json()).toMatchObject({
    endpoints: [{ url: "https://kv.example.com/kv" }],
  });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

it("needs a token", async () => {
  project = await createProject(files);
  await (await openKv(project.path("data"))).close();
  const { stderr, exitCode } = await project.spawn(["serve", "--port", "0"]);
  expect(stderr).toContain("tokens must have at least one token");
  expect(exitCode).toBe(1);
});

it("needs both files of TLS", async () => {
  project = await createProject(files);
  const { stderr, exitCode } = await project.run(["serve", "--tls-cert", "cert.pem"]);
  expect(stderr).toContain("--tls-cert and --tls-key need each other");
  expect(exitCode).toBe(2);
});

it("needs the package of the server", async () => {
  project = await createProject(files);
  await unlink(project.path("node_modules"));
  const { stderr } = await project.run(["serve"]);
  expect(stderr).toContain("npm install @keywright/server");
});
