import { unlink } from "node:fs/promises";
import { openKv } from "@keywright/core";
import { afterEach, expect, it, vi } from "vitest";
import { createProject, type Project, startHere, stopStarted } from "./project.js";

const token = "0123456789abcdef";
const files = {
  "keywright.config.js": `import { openKv } from "@keywright/core";
export default {
  models: "models/*.ts",
  output: "db",
  database: () => openKv(new URL("./data", import.meta.url).pathname),
};
`,
};

let project: Project;
afterEach(async () => {
  vi.unstubAllEnvs();
  await stopStarted();
  await project.remove();
});

it("serves a folder without a configuration, with the endpoint of a proxy", async () => {
  project = await createProject({});
  const own = await openKv(project.path("data"), { compat: "deno" });
  await own.set(["a"], 1);
  await own.close();
  vi.stubEnv("KEYWRIGHT_TOKEN", token);
  const args = ["serve", "data", "--port", "0", "--public-url", "https://kv.example.com/"];
  const line = await startHere(project.folder, args);
  const url = /^Serving (http:\S+)$/.exec(line)?.[1] ?? "";
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { method: "POST", headers });
  expect(await answer.json()).toMatchObject({
    endpoints: [{ url: "https://kv.example.com/kv" }],
  });
  expect(await stopStarted()).toMatchObject([{ exitCode: 0 }]);
});

it("needs a token", async () => {
  project = await createProject(files);
  await (await openKv(project.path("data"))).close();
  const { stdout, exitCode } = await project.run(["serve", "--port", "0", "--json"]);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: "KW_USAGE",
    message: expect.stringContaining("set KEYWRIGHT_TOKEN"),
  });
  expect(exitCode).toBe(2);
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
