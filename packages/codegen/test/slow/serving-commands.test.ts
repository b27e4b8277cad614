import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openKv } from "@keywright/core";
import { afterEach, expect, it } from "vitest";
import { createProject, modelModule, type Project } from "../project.js";

const command = fileURLToPath(new URL("../../bin/keywright.js", import.meta.url));
const token = "0123456789abcdef";
const files = {
  "keywright.config.js": `import { openKv } from "@keywright/core";
export default { models: "models/*.ts", output: "db", database: () => openKv("data") };
`,
  "models/user.ts": modelModule("User", "users"),
};

let project: Project;
let child: ChildProcess;

afterEach(async () => {
  child.kill("SIGKILL");
  await project.remove();
});

/** Starts a command in a process of its own, and returns the first line of its output. */
async function start(args: readonly string[]): Promise<string> {
  child = spawn(process.execPath, [command, ...args], {
    cwd: project.folder,
    env: { ...process.env, KEYWRIGHT_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  return String(line).trim();
}

it.skipIf(process.platform === "win32")("studio shows the models until it is stopped", async () => {
  project = await createProject(files);
  // A running application keeps its database.
  await using own = await openKv(project.path("data"));
  await own.set(["a"], 1);
  const url = new URL(await start(["studio"]));
  const entered = await fetch(url);
  const [cookie = ""] = entered.headers.getSetCookie();
  const headers = { cookie: cookie.split(";")[0] ?? "", origin: url.origin };
  const info = await fetch(new URL("/api/info", url), { method: "POST", headers, body: "[null]" });
  expect(await info.text()).toContain('"users"');
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

it.skipIf(process.platform === "win32")("serve serves until it is stopped", async () => {
  project = await createProject(files);
  const own = await openKv(project.path("data"));
  await own.set(["a"], 1);
  await own.close();
  const url = /^Serving (http:\S+)$/.exec(await start(["serve", "--port", "0"]))?.[1] ?? "";
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
