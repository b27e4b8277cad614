import { mkdir, readdir, realpath, rename, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import { openKv as openDenoKv } from "@deno/kv";
import { type KvEntry, openKv } from "@keywright/core";
import { afterEach, expect, it, vi } from "vitest";
import { playersConfig, playersModule } from "./players-project.js";
import { createProject, type Project } from "./project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

const copy = `copy: {
    from: () => openKv(new URL("./old", import.meta.url).pathname),
    expireIn: ({ key }) => (key[0] === "sessions" ? 1_000_000 : undefined),
  },`;

async function copyProject(settings = copy, sessions = 1): Promise<void> {
  project = await createProject({
    "keywright.config.ts": playersConfig(settings),
    "models/player.ts": playersModule("{}"),
  });
  const old = await openKv(project.path("old"));
  await old.set(["players", "1"], { id: "1", team: "red", score: "5" });
  for (let first = 0; first < sessions; first += 500) {
    const batch = old.atomic();
    for (let n = first; n < Math.min(first + 500, sessions); n++) {
      batch.set(["sessions", n], { user: "1" });
    }
    await batch.commit();
  }
  await old.close();
}

async function entriesIn(name: string): Promise<KvEntry<unknown>[]> {
  const kv = await openKv(project.path(name), { createIfMissing: false });
  const entries: KvEntry<unknown>[] = [];
  for await (const entry of kv.list({ prefix: [] })) entries.push(entry);
  await kv.close();
  return entries;
}

it("copies the source of the configuration into its database, with its expiry", async () => {
  await copyProject();
  const { exitCode, stdout, stderr } = await project.run(["copy"]);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: "Done. 2 entries copied, and all compared.\n",
  });
  expect(stderr).toContain("copy  verifying  2 / 2 entries  100 %");
  const copied = await entriesIn("data");
  expect(copied.map(({ key }) => key[0])).toEqual(["players", "sessions"]);
  expect(copied[0]?.expireAt).toBeUndefined();
  expect((copied[1]?.expireAt ?? 0) - Date.now()).toBeGreaterThan(900_000);
});

it("shows a bar on a terminal, with the number of entries", async () => {
  await copyProject(copy, 3000);
  vi.stubEnv("TERM", "xterm");
  vi.stubEnv("NO_COLOR", "1");
  try {
    const { stdout, stderr } = await project.run(["copy"], 80);
    expect(stdout).toBe("Done. 3,001 entries copied, and all compared.\n");
    const states = [...stderr.matchAll(/copy {2}[█░]{10,} {2}( *[\d,]+) \/ 3,001 entries/g)];
    expect(states.length).toBeGreaterThan(1);
    expect(states.at(-1)?.[1]).toBe("3,001");
    expect(stderr).toMatch(/ 100 % .*\n/);
    // The cursor is hidden during the copy, and shown afterwards.
    expect(stderr.lastIndexOf("\x1b[?25h")).toBeGreaterThan(stderr.lastIndexOf("\x1b[?25l"));
  } finally {
    vi.unstubAllEnvs();
  }
});

it("runs no code of the project with --no-config", async () => {
  await copyProject();
  await project.write({ "keywright.config.ts": "throw new Error('it was run');" });
  const { exitCode, stdout } = await project.run(["copy", "old", "new", "--no-config"]);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: "Done. 2 entries copied, and all compared.\n",
  });
  expect((await project.run(["copy", "old", "other"])).stderr).toContain("it was run");
  for (const places of [["old"], ["old", "database"], []]) {
    const refused = await project.run(["copy", ...places, "--no-config"]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("both databases must be paths or URLs");
  }
});

it("copies one state while a program writes to the folder", async () => {
  await copyProject(copy, 3000);
  await project.write({
    "old.config.ts": playersConfig().replace('"./data"', '"./old"'),
  });
  const old = await openKv(project.path("old"));
  let isCopying = true;
  const write = async () => {
    // Each commit moves one entry from the end of the key space to its beginning.
    for (let n = 0; isCopying && n < 2990; n++) {
      const to = { user: "1", n };
      await old
        .atomic()
        .delete(["sessions", 2999 - n])
        .set(["before", n], to)
        .commit();
      await new Promise(setImmediate);
    }
  };
  const writing = write();
  try {
    const { exitCode, stdout } = await project.run(["copy", "old", "new", "--no-config"]);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: "Done. 3,001 entries copied, and all compared.\n",
    });
    const { stdout: exported } = await project.run([
      "inspect",
      "export",
      "--config",
      "old.config.ts",
    ]);
    expect(exported.split("\n")).toHaveLength(3001 + 3);
  } finally {
    isCopying = false;
    await writing;
    await old.close();
  }
});

it("copies between paths, without a project too", async () => {
  await copyProject();
  const outcome = await project.run(["copy", "old", "new", "--json"]);
  expect(JSON.parse(outcome.stdout).result).toMatchObject({
    status: "done",
    entries: 2,
    resumed: false,
  });
  expect((await entriesIn("new"))[1]?.expireAt).toBeDefined();
  const bare = await createProject({});
  try {
    const path = bare.path("new");
    expect((await bare.run(["copy", project.path("old"), path])).exitCode).toBe(0);
    await bare.run(["copy", path, "third"]);
    const third = await openKv(bare.path("third"), { createIfMissing: false });
    expect((await third.get(["players", "1"])).value).toMatchObject({ team: "red" });
    await third.close();
  } finally {
    await bare.remove();
  }
});

it("copies a file of Deno KV into a setting", async () => {
  await copyProject();
  const deno = await openDenoKv(project.path("kv.sqlite"));
  await deno.set(["players", "2"], { id: "2", team: "blue", score: "6" });
  deno.close();
  expect((await project.run(["copy", "kv.sqlite", "database"])).stdout).toContain("1 entry copied");
  expect((await entriesIn("data")).map(({ key }) => key)).toEqual([["players", "2"]]);
});

it("takes the databases as options, and paths in the configuration", async () => {
  await copyProject('copy: { from: "old", to: "new" },');
  expect((await project.run(["copy"])).exitCode).toBe(0);
  expect(await entriesIn("new")).toHaveLength(2);
  for (const args of [
    ["--from", "old", "--to", "second"],
    ["--from", "second", "third"],
    ["third", "--to", "fourth"],
  ]) {
    expect((await project.run(["copy", ...args, "--no-verify"])).stdout).toBe(
      "Done. 2 entries copied.\n",
    );
  }
  expect(await entriesIn("fourth")).toHaveLength(2);
  const twice = await project.run(["copy", "old", "new", "--from", "third"]);
  expect(twice).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--from") as string });
  const both = await project.run(["copy", "old", "new", "--to", "third"]);
  expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--to") as string });
});

/** A package that stands for an engine on a server without databases. */
const emptyServer = `
  import { DatabaseNotFoundError } from "@keywright/core";
  import { isCreationAllowed } from "@keywright/core/engine";
  export async function postgresEngine() {
    if (!isCreationAllowed()) throw new DatabaseNotFoundError(undefined, "table app on the server");
    throw new Error("A table was created.");
  }`;

it("creates nothing on the server of a source, and may at the target", async () => {
  const entry = { name: "@keywright/postgres", type: "module", exports: "./index.js" };
  project = await createProject({
    "packages/postgres/package.json": JSON.stringify(entry),
    "packages/postgres/index.js": emptyServer,
  });
  const modules = await realpath(project.path("node_modules"));
  await unlink(project.path("node_modules"));
  await mkdir(project.path("node_modules/@keywright"), { recursive: true });
  await rename(project.path("packages/postgres"), project.path("node_modules/@keywright/postgres"));
  await symlink(join(modules, "@keywright/core"), project.path("node_modules/@keywright/core"));
  const missing = await project.run(["copy", "postgres://server/app", "new"]);
  expect(missing.exitCode).toBe(1);
  expect(missing.stderr).toContain(
    "KW_DATABASE_NOT_FOUND: There is no table app on the server, and none was created.",
  );
  expect(await readdir(project.folder)).not.toContain("new");
  await (await openKv(project.path("old"))).close();
  const target = await project.run(["copy", "old", "postgres://server/app"]);
  expect(target.stderr).toContain("A table was created.");
});

it("says which package the URL of an engine needs", async () => {
  project = await createProject({});
  await unlink(project.path("node_modules"));
  for (const [url, name] of [
    ["postgres://ada:secret@127.0.0.1/app", "@keywright/postgres"],
    ["etcd://ada:secret@127.0.0.1", "@keywright/etcd"],
    ["lmdb:data.mdb", "@keywright/lmdb"],
    ["sqlite:data.sqlite", "@keywright/sqlite"],
  ] as const) {
    const { exitCode, stderr } = await project.run(["copy", url, "data"]);
    expect(exitCode).toBe(1);
    expect(stderr).not.toContain("secret");
    const command = `npm install ${name}`;
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(command);
    expect(stderr).toContain("KW_ENGINE_MISSING");
  }
});

it("refuses a source that does not exist, creates none, and says which setting is missing", async () => {
  await copyProject("");
  const missing = await project.run(["copy", "nowhere", "new"]);
  expect(missing.exitCode).toBe(1);
  expect(missing.stderr).toContain("KW_DATABASE_NOT_FOUND");
  const unset = await project.run(["copy"]);
  expect(unset.stderr).toContain("error KW_COPY_UNSET: keywright.config.ts: the setting");
  const wrong = await project.run(["copy", "adopt.from", "new"]);
  expect(wrong.stderr).toContain("KW_DATABASE_UNSET");
});

it.each([
  ["from: 1", "copy.from"],
  ["expireIn: 1", "copy.expireIn"],
  ["other: 1", "copy.other"],
])("refuses the setting copy with %s", async (setting, place) => {
  await copyProject(`copy: { ${setting} },`);
  const { stderr } = await project.run(["copy"]);
  expect(stderr).toContain(`KW_CONFIG_INVALID: keywright.config.ts: ${place}:`);
});

it("moves a database with its later commits, and takes the move back", async () => {
  await copyProject();
  const refused = await project.run(["copy", "old", "new", "--follow", "--switch"]);
  expect(refused.stderr).toContain("keywright log on");
  const kv = await openKv(project.path("old"), { log: {} });
  await kv.close();
  const usage = await project.run(["copy", "old", "new", "--follow"]);
  expect(usage.stderr).toContain("--follow and --switch belong together");
  const { exitCode, stdout } = await project.run(["copy", "old", "new", "--follow", "--switch"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^Done\. 2 entries and \d later commits? moved\. Commits were refused for [\d.]+ ms\. Programs of the\s+source now get KW_DATABASE_MOVED\.\n$/,
  );
  await expect(openKv(project.path("old"))).rejects.toMatchObject({
    code: "KW_DATABASE_MOVED",
    to: project.path("new"),
  });
  expect((await entriesIn("new")).map(({ key }) => key[0])).toEqual(["players", "sessions"]);
  const undone = await project.run(["copy", "old", "--undo", "--json"]);
  expect(JSON.parse(undone.stdout).result).toEqual({ status: "done" });
  expect((await entriesIn("old")).length).toBe(2);
});
