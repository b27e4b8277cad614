import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openKv } from "@keywright/core";
import { afterEach, expect, it } from "vitest";
import { createProject, modelModule, type Project } from "./project.js";

const command = fileURLToPath(new URL("../bin/keywright.js", import.meta.url));
const files = {
  "keywright.config.js": `import { openKv } from "@keywright/core";
export default { models: "models/*.ts", output: "db", database: () => openKv("data") };
`,
  "models/user.ts": modelModule("User", "users"),
};

let project: Project;
let child: ChildProcess | undefined;

afterEach(async () => {
  child?.kill("SIGKILL");
  child = undefined;
  await project.remove();
});

/** Starts the command and returns the answer of the page's first call, as text. */
async function infoOf(args: readonly string[]): Promise<string> {
  child = spawn(process.execPath, [command, "studio", ...args], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  const url = new URL(String(line).trim());
  const entered = await fetch(url);
  const [cookie = ""] = entered.headers.getSetCookie();
  const headers = { cookie: cookie.split(";")[0] ?? "", origin: url.origin };
  const answer = await fetch(new URL("/api/info", url), {
    method: "POST",
    headers,
    body: "[null]",
  });
  return await answer.text();
}

it.skipIf(process.platform === "win32")("shows the models until it is stopped", async () => {
  project = await createProject(files);
  // A running application keeps its database.
  await using own = await openKv(project.path("data"));
  await own.set(["a"], 1);
  expect(await infoOf([])).toContain('"users"');
  child?.kill("SIGTERM");
  expect(await once(child!, "exit")).toEqual([0, null]);
});

it("shows the keys of another database, without models", async () => {
  project = await createProject(files);
  await (await openKv(project.path("other"))).close();
  const info = await infoOf(["other", "--read-only"]);
  expect(info).toContain('"other"');
  expect(info).not.toContain('"users"');
});

it("creates no database", async () => {
  project = await createProject(files);
  for (const args of [["studio"], ["studio", "missing"]]) {
    const { stderr, exitCode } = await project.spawn(args);
    expect(stderr).toContain("There is no database");
    expect(exitCode).toBe(1);
  }
});
