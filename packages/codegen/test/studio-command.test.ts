import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKv } from "@keywright/core";
import { afterEach, describe, expect, it } from "vitest";
import { createProject, modelModule, type Project } from "./project.js";

const command = fileURLToPath(new URL("../bin/keywright.js", import.meta.url));
const files = {
  "keywright.config.js": `import { openKv } from "@keywright/core";
export default { models: "models/*.ts", output: "db", database: () => openKv("data") };
`,
  "models/user.ts": modelModule("User", "users"),
};

const token = "0123456789abcdef";

let project: Project;
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await project.remove();
});

interface Started {
  readonly child: ChildProcess;
  /** The first line of its output. */
  readonly line: string;
}

/** Starts a command that runs until it is stopped. */
async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  errors: "inherit" | "ignore" = "inherit",
): Promise<Started> {
  const child = spawn(process.execPath, [command, ...args], {
    cwd: project.folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", errors],
  });
  children.push(child);
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  return { child, line: String(line).trim() };
}

/** Opens the page of a studio, and returns a function that calls its server. */
async function enter({ line }: Started): Promise<(name: string, body?: string) => Promise<string>> {
  const url = new URL(line);
  const entered = await fetch(url);
  const [cookie = ""] = entered.headers.getSetCookie();
  const headers = { cookie: cookie.split(";")[0] ?? "", origin: url.origin };
  return async (name, body = "[null]") => {
    const answer = await fetch(new URL(`/api/${name}`, url), { method: "POST", headers, body });
    return await answer.text();
  };
}

it.skipIf(process.platform === "win32")("shows the models until it is stopped", async () => {
  project = await createProject(files);
  // A running application keeps its database.
  await using own = await openKv(project.path("data"));
  await own.set(["a"], 1);
  const studio = await start(["studio"]);
  expect(await (await enter(studio))("info")).toContain('"users"');
  studio.child.kill("SIGTERM");
  expect(await once(studio.child, "exit")).toEqual([0, null]);
});

it("shows the keys of another database, without models", async () => {
  project = await createProject(files);
  await (await openKv(project.path("other"))).close();
  const call = await enter(await start(["studio", "other", "--read-only"]));
  const info = await call("info");
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

describe("of a database that a server serves", () => {
  const firstKeys = '[{"prefix":1},[]]';
  const serving = { KEYWRIGHT_TOKEN: token, DENO_KV_ACCESS_TOKEN: "" };

  /** Serves the database, and returns the URL. */
  async function serve(): Promise<string> {
    const { line } = await start(["serve", "--port", "0"], serving);
    return /^Serving (http:\S+)$/.exec(line)?.[1] ?? "";
  }

  it("takes the token of KEYWRIGHT_TOKEN", async () => {
    project = await createProject(files);
    const kv = await openKv(project.path("data"));
    await kv.set(["served"], 1);
    await kv.close();
    const url = await serve();
    const call = await enter(await start(["studio", url], { KEYWRIGHT_TOKEN: token }));
    expect(await call("info")).toContain(url);
    expect(await call("keys", firstKeys)).toContain('"served"');
  });

  it("takes the token of DENO_KV_ACCESS_TOKEN", async () => {
    const config = files["keywright.config.js"].replace('"data"', '"data", { compat: "deno" }');
    project = await createProject({ ...files, "keywright.config.js": config });
    const kv = await openKv(project.path("data"), { compat: "deno" });
    await kv.set(["served"], 1);
    await kv.close();
    const url = await serve();
    const env = { DENO_KV_ACCESS_TOKEN: token };
    const call = await enter(await start(["studio", url], env));
    expect(await call("keys", firstKeys)).toContain('"served"');
  });

  it("fails with another token", async () => {
    project = await createProject(files);
    await (await openKv(project.path("data"))).close();
    const url = await serve();
    const child = spawn(process.execPath, [command, "studio", url], {
      cwd: project.folder,
      env: { ...process.env, KEYWRIGHT_TOKEN: "another-token-0123" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    children.push(child);
    let text = "";
    child.stderr.on("data", (data) => {
      text += String(data);
    });
    expect(await once(child, "exit")).toEqual([1, null]);
    expect(text).toContain("token");
  });
});

it("shows what can be read of a damaged database, and refuses changes", async () => {
  project = await createProject(files);
  const path = project.path("data");
  for (let session = 0; session < 2; session++) {
    await using kv = await openKv(path, { durability: "relaxed" });
    for (let i = 0; i < 500 && session === 0; i++) await kv.set(["a", i], "x".repeat(200));
  }
  const table = (await readdir(path)).find((name) => name.endsWith(".ldb")) ?? "";
  const bytes = await readFile(join(path, table));
  bytes.fill(0, bytes.length / 2, bytes.length / 2 + 16);
  await writeFile(join(path, table), bytes);
  for (const args of [[], ["data"]]) {
    const studio = await start(["studio", ...args], {}, "ignore");
    const call = await enter(studio);
    expect(await call("damage")).toContain(table);
    expect(await call("keys", '[{"prefix":1},[2],"a"]')).toContain('"part"');
    expect(await call("delete")).toContain("read-only");
    studio.child.kill("SIGTERM");
    expect(await once(studio.child, "exit")).toEqual([0, null]);
  }
});
