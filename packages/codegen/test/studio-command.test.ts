import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createProject, modelModule, type Project, startHere, stopStarted } from "./project.js";

const files = {
  "keywright.config.js": `import { openKv } from "@keywright/core";
export default { models: "models/*.ts", output: "db", database: () => openKv(new URL("./data", import.meta.url).pathname) };
`,
  "models/user.ts": modelModule("User", "users"),
};

const token = "0123456789abcdef";

let project: Project;

afterEach(async () => {
  vi.unstubAllEnvs();
  await stopStarted();
  await project.remove();
});

type Call = (name: string, body?: string) => Promise<string>;

/** Starts a studio, opens its page, and returns a function that calls its server. */
async function enter(args: readonly string[] = []): Promise<Call> {
  const url = new URL(await startHere(project.folder, ["studio", ...args]));
  const entered = await fetch(url);
  const [cookie = ""] = entered.headers.getSetCookie();
  const headers = { cookie: cookie.split(";")[0] ?? "", origin: url.origin };
  return async (name, body = "[null]") => {
    const answer = await fetch(new URL(`/api/${name}`, url), { method: "POST", headers, body });
    return await answer.text();
  };
}

it("shows the keys of another database, without models", async () => {
  project = await createProject(files);
  await (await openKv(project.path("other"))).close();
  const call = await enter(["other", "--read-only"]);
  const info = await call("info");
  expect(info).toContain('"other"');
  expect(info).not.toContain('"users"');
});

it("creates no database", async () => {
  project = await createProject(files);
  for (const args of [["studio"], ["studio", "missing"]]) {
    const { stderr, exitCode } = await project.run(args);
    expect(stderr).toContain("There is no database");
    expect(exitCode).toBe(1);
  }
});

describe("of a database that a server serves", () => {
  const firstKeys = '[{"prefix":1},[]]';

  /** Serves the database, and returns the URL. */
  async function serve(): Promise<string> {
    vi.stubEnv("KEYWRIGHT_TOKEN", token);
    vi.stubEnv("DENO_KV_ACCESS_TOKEN", "");
    const line = await startHere(project.folder, ["serve", "--port", "0"]);
    vi.unstubAllEnvs();
    return /^Serving (http:\S+)$/.exec(line)?.[1] ?? "";
  }

  it("takes the token of KEYWRIGHT_TOKEN", async () => {
    project = await createProject(files);
    const kv = await openKv(project.path("data"));
    await kv.set(["served"], 1);
    await kv.close();
    const url = await serve();
    vi.stubEnv("KEYWRIGHT_TOKEN", token);
    const call = await enter([url]);
    expect(await call("info")).toContain(url);
    expect(await call("keys", firstKeys)).toContain('"served"');
  });

  it("takes the token of DENO_KV_ACCESS_TOKEN", async () => {
    const config = files["keywright.config.js"].replace(
      ".pathname",
      '.pathname, { compat: "deno" }',
    );
    project = await createProject({ ...files, "keywright.config.js": config });
    const kv = await openKv(project.path("data"), { compat: "deno" });
    await kv.set(["served"], 1);
    await kv.close();
    const url = await serve();
    vi.stubEnv("DENO_KV_ACCESS_TOKEN", token);
    const call = await enter([url]);
    expect(await call("keys", firstKeys)).toContain('"served"');
  });

  it("fails with another token", async () => {
    project = await createProject(files);
    await (await openKv(project.path("data"))).close();
    const url = await serve();
    vi.stubEnv("KEYWRIGHT_TOKEN", "another-token-0123");
    const { exitCode, stderr } = await project.run(["studio", url]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("token");
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
    const call = await enter(args);
    expect(await call("damage")).toContain(table);
    expect(await call("keys", '[{"prefix":1},[2],"a"]')).toContain('"part"');
    expect(await call("delete")).toContain("read-only");
    expect(await stopStarted()).toMatchObject([
      { exitCode: 0, stderr: expect.stringContaining("can still be read, and changes nothing") },
    ]);
  }
});
