import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type KvEntry, openKv } from "@keywright/core";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, expect, it } from "vitest";
import { createProject, type Project } from "../project.js";

const command = fileURLToPath(new URL("../../bin/keywright.js", import.meta.url));
const token = "a-token-of-many-characters";

const models = (indexes: string) => `import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";
export const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.email(), born: z.date(), visits: z.bigint().default(0n) }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byBorn: { key: "born" }${indexes} },
});
export const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string() }),
  primaryKey: "id",
  indexes: { byAuthor: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId") },
});
`;

/** A program that has the folder open, and writes what its standard input says. */
const program = `import { openKv } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
import { createInterface } from "node:readline";
import { Post, User } from "./models.mjs";
const kv = await openKv("data");
const db = await createDatabase({ kv, models: { users: User, posts: Post } });
for (let i = 0; i < 60; i++) {
  const born = new Date(Date.UTC(2000, 0, 1 + i));
  await db.users.create({ data: { id: "u" + i, email: "u" + i + "@example.com", born } });
}
console.log("ready");
for await (const line of createInterface(process.stdin)) {
  const { create, read, dump } = JSON.parse(line);
  if (dump) {
    const entries = [];
    for await (const { key, versionstamp } of kv.list({ prefix: [] })) entries.push([key, versionstamp]);
    console.log(JSON.stringify(entries.map(String)));
    continue;
  }
  if (create) await db.posts.create({ data: create });
  const row = read && (await db.users.findUnique({ where: { id: read } }));
  console.log(JSON.stringify({ row: row && { ...row, visits: String(row.visits) } }));
}
await kv.close();
`;

let project: Project;
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await project.remove();
});

async function openProject(): Promise<void> {
  project = await createProject({
    "keywright.config.ts": `import { openKv } from "@keywright/core";
export default { models: "models/*.ts", output: "db", database: () => openKv("data") };
`,
    "models/models.ts": models(""),
    "models.mjs": models(""),
    "program.mjs": program,
  });
}

/** Starts the program, and returns a function that sends it a line and returns its answer. */
async function startProgram() {
  const child: ChildProcess = spawn(process.execPath, ["program.mjs"], {
    cwd: project.folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("ready");
  let stopped: Promise<unknown> | undefined;
  const stop = async (): Promise<void> => {
    if (stopped === undefined) child.stdin!.end();
    stopped ??= once(child, "exit");
    await stopped;
  };
  ends.push(stop);
  const ask = async (line: object): Promise<unknown> => {
    child.stdin!.write(`${JSON.stringify(line)}\n`);
    return JSON.parse((await lines.next()).value);
  };
  return { pid: child.pid!, ask, stop };
}

type Parsed = ReturnType<typeof JSON.parse>;

interface Answer {
  readonly isError: boolean;
  readonly result?: Parsed;
  readonly error?: Parsed;
}

/** Clients of the protocol before 2026-07-28, and since. */
const eras = {
  legacy: { mode: "legacy" },
  modern: { mode: { pin: "2026-07-28" } },
} as const satisfies Record<string, ClientOptions["versionNegotiation"]>;

/** Starts the server, and returns a function that calls a tool. */
async function startServer(
  args: readonly string[],
  env: Record<string, string> = {},
  era: keyof typeof eras = "modern",
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [command, "mcp", ...args],
    cwd: project.folder,
    env: { ...(process.env as Record<string, string>), ...env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (text) => {
    stderr += text;
  });
  const options = { versionNegotiation: eras[era] };
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(transport);
  expect(client.getProtocolEra()).toBe(era);
  ends.push(() => client.close());
  const call = async (name: string, input: Record<string, unknown> = {}): Promise<Answer> => {
    const answer = await client.callTool({ name, arguments: input });
    const [content] = answer.content as { text: string }[];
    expect(JSON.parse(content!.text)).toEqual(answer.structuredContent);
    return { isError: answer.isError === true, ...(answer.structuredContent as object) };
  };
  return { client, call, stderr: () => stderr };
}

it("reads through a running program, and writes nothing", async () => {
  await openProject();
  const { pid, ask } = await startProgram();
  const { client, call, stderr } = await startServer([], {}, "legacy");

  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual([
    ...["models", "explain", "find", "search", "count", "verify", "migration_plan"],
  ]);
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  expect(client.getServerVersion()).toMatchObject({ name: "keywright" });

  const all = (await call("models")).result.models;
  expect(all.map(({ model }: { model: string }) => model).sort()).toEqual(["posts", "users"]);
  const user = (await call("models", { model: "users" })).result;
  expect(user.fields.email.schema).toMatchObject({ type: "string" });
  expect(user.indexes.byEmail).toMatchObject({ unique: true, state: "readable" });

  const where = { born: { gte: "2000-01-02", lt: "2000-01-05T00:00:00Z" } };
  const found = (
    await call("find", { model: "users", where, take: 2, select: { id: true, born: true } })
  ).result;
  expect(found.rows).toEqual([
    { id: "u1", born: "2000-01-02T00:00:00.000Z" },
    { id: "u2", born: "2000-01-03T00:00:00.000Z" },
  ]);
  const next = await call("find", {
    model: "users",
    where,
    take: 2,
    select: { id: true },
    cursor: found.cursor,
  });
  expect(next.result).toEqual({ rows: [{ id: "u3" }], cursor: null });
  expect((await call("find", { model: "users" })).result.rows).toHaveLength(20);
  expect((await call("find", { model: "users" })).result.rows[0].visits).toEqual({ $: "0n" });
  expect((await call("count", { model: "users", where })).result).toEqual({ count: 3 });
  expect((await call("explain", { model: "users", where })).result).toMatchObject({
    index: "byBorn",
    kind: "range",
  });

  // What the program writes meanwhile.
  expect((await call("count", { model: "posts", where: { authorId: "u1" } })).result).toEqual({
    count: 0,
  });
  await ask({ create: { id: "p1", authorId: "u1" } });
  const posts = await call("find", {
    model: "posts",
    where: { authorId: "u1" },
    include: { author: true },
  });
  expect(posts.result.rows).toMatchObject([{ id: "p1", author: { email: "u1@example.com" } }]);
  expect((await call("verify")).result).toMatchObject({ status: "clean", danglingReferences: [] });

  // A model that the agent has just changed.
  await project.write({ "models/models.ts": models(', byVisits: { key: "visits" }') });
  const plan = (await call("migration_plan")).result;
  expect(plan.steps).toMatchObject([{ model: "users", kind: "build-index", index: "byVisits" }]);
  expect((await call("models", { model: "users" })).result.indexes.byVisits.state).toBe("absent");

  for (const [name, input, code] of [
    [
      "find",
      { model: "users", where: { visits: 1 }, orderBy: { email: "asc" } },
      "KW_QUERY_UNINDEXED",
    ],
    ["find", { model: "nobody" }, "KW_ARGUMENT_INVALID"],
    ["find", { model: "users", take: 1000 }, "KW_ARGUMENT_INVALID"],
    ["find", { model: "users", limit: 1 }, "KW_ARGUMENT_INVALID"],
    ["find", { model: "users", where: { born: "soon" } }, "KW_QUERY_INVALID"],
    ["create", { model: "users", data: {} }, "KW_ARGUMENT_INVALID"],
  ] as const) {
    const { isError, error, result } = await call(name, input);
    expect({ isError, result, error }).toEqual({
      isError: true,
      result: undefined,
      error: {
        code,
        message: expect.stringMatching(/\S/),
        remedy: expect.stringMatching(/\S/),
        details: expect.any(Object),
      },
    });
  }
  expect(stderr()).toContain(`Attached to process ${pid}`);
}, 240_000);

it.each(["legacy", "modern"] as const)(
  "answers a %s client",
  async (era) => {
    await openProject();
    await startProgram();
    const { client, call } = await startServer([], {}, era);
    expect((await client.listTools()).tools).toHaveLength(7);
    expect((await call("count", { model: "users" })).result).toEqual({ count: 60 });
    expect((await call("find", { model: "user" })).error.message).toContain("did you mean users?");
  },
  120_000,
);

it("writes nothing into the database, not even for new models", async () => {
  await openProject();
  const program = await startProgram();
  // A model with all that is derived from rows, which the database does not have.
  await project.write({
    "models/new.ts": `import { belongsTo, defineModel } from "@keywright/orm";
import * as z from "zod";
export const Note = defineModel({
  name: "notes",
  schema: z.object({ id: z.string(), authorId: z.string(), text: z.string(), words: z.int() }),
  primaryKey: "id",
  count: true,
  live: true,
  indexes: {
    byAuthor: { key: "authorId", count: true, sum: ["words"] },
    search: { text: "text" },
  },
  relations: { author: belongsTo("users", "authorId") },
});
`,
  });
  const { call } = await startServer([]);
  for (const isAttached of [true, false]) {
    // Without the program, the server opens the folder itself.
    if (!isAttached) await program.stop();
    const before = isAttached ? await program.ask({ dump: true }) : await dumpOf("data");
    for (const [name, input] of [
      ["models", {}],
      ["models", { model: "notes" }],
      ["explain", { model: "notes", where: { authorId: "u1" } }],
      ["find", { model: "users" }],
      ["find", { model: "notes" }],
      ["find", { model: "notes", where: { authorId: "u1" }, include: { author: true } }],
      ["search", { model: "notes", query: "word" }],
      ["count", { model: "notes" }],
      ["count", { model: "notes", where: { authorId: "u1" } }],
      ["verify", {}],
      ["migration_plan", {}],
    ] as const) {
      const { isError, error } = await call(name, input);
      expect({ name, input, isError, error }).toMatchObject({ isError: false });
    }
    const after = isAttached ? await program.ask({ dump: true }) : await dumpOf("data");
    expect(after).toEqual(before);
  }
}, 240_000);

/** All entries of a folder, also those of Keywright itself. */
async function dumpOf(name: string): Promise<readonly KvEntry<unknown>[]> {
  await using kv = await openKv(project.path(name));
  const entries: KvEntry<unknown>[] = [];
  for await (const entry of kv.list({ prefix: [] })) entries.push(entry);
  return entries;
}

it("answers the next calls if a database does not open", async () => {
  await openProject();
  await project.write({
    "keywright.config.ts": `import { openKv } from "@keywright/core";
import { existsSync } from "node:fs";
const database = () => existsSync("hang") ? new Promise<never>(() => {}) : openKv("data");
export default { models: "models/*.ts", output: "db", database };
`,
    hang: "",
  });
  await startProgram();
  const { call } = await startServer(["--timeout", "5"]);
  const hung = await Promise.all([call("count", { model: "users" }), call("models")]);
  expect(hung.map(({ error }) => error.code)).toEqual(["KW_CALL_TIMEOUT", "KW_CALL_TIMEOUT"]);
  await rm(project.path("hang"));
  expect((await call("count", { model: "users" })).result).toEqual({ count: 60 });
}, 120_000);

it("writes with --allow-writes, by the rules of the models", async () => {
  await openProject();
  const { ask } = await startProgram();
  const { client, call } = await startServer(["--allow-writes"]);
  const page = await readFile(join(import.meta.dirname, "../../../../docs/mcp.md"), "utf8");
  const described = [...page.matchAll(/^\| `(\w+)` \| /gm)].map(([, name]) => name);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(described);

  const data = { id: "ada", email: "ada@example.com", born: "1815-12-10", visits: "2" };
  const created = await call("create", { model: "users", data });
  expect(created.result.row).toMatchObject({ id: "ada", born: "1815-12-10T00:00:00.000Z" });
  const { versionstamp } = created.result;
  const changed = await call("update", {
    ...{ model: "users", where: { email: "ada@example.com" }, ifVersion: versionstamp },
    data: { visits: { $: "5n" } },
  });
  expect(changed.result.row.visits).toEqual({ $: "5n" });
  expect(await ask({ read: "ada" })).toMatchObject({ row: { visits: "5" } });

  const stale = { model: "users", where: { id: "ada" }, ifVersion: versionstamp };
  expect((await call("delete", stale)).error.code).toBe("KW_VERSION_CONFLICT");
  const twin = await call("create", { model: "users", data: { ...data, id: "twin" } });
  expect(twin.error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT", details: { index: "byEmail" } });
  const bad = await call("create", { model: "users", data: { ...data, id: "b", email: "no" } });
  expect(bad.error).toMatchObject({
    code: "KW_ROW_INVALID",
    details: { issues: [{ path: "email" }] },
  });
  expect((await call("delete", { model: "users", where: { id: "ada" } })).isError).toBe(false);
  expect(await ask({ read: "ada" })).toEqual({ row: null });
}, 240_000);

it("reads the database of a server at a URL, and shows no token", async () => {
  await openProject();
  expect((await project.spawn(["migrate", "run"])).exitCode).toBe(0);
  const server = spawn(process.execPath, [command, "serve", "data", "--port", "0", "--json"], {
    cwd: project.folder,
    env: { ...process.env, KEYWRIGHT_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  ends.push(async () => {
    server.kill();
    await once(server, "exit");
  });
  const line = (await createInterface(server.stdout)[Symbol.asyncIterator]().next()).value;
  const { url } = JSON.parse(line).result;
  const { call, stderr } = await startServer([url], { KEYWRIGHT_TOKEN: token });
  expect((await call("count", { model: "users" })).result).toEqual({ count: 0 });
  const wrong = await startServer([url.replace("//", `//ada:${token}@`)], {
    KEYWRIGHT_TOKEN: "another-token-of-many",
  });
  const refused = await wrong.call("count", { model: "users" });
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused) + stderr() + wrong.stderr()).not.toContain(token);
}, 240_000);

it("ends when the client does", async () => {
  await openProject();
  const child = spawn(process.execPath, [command, "mcp"], {
    cwd: project.folder,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
}, 60_000);

it("survives errors of the project that no call waits for, and what the project prints", async () => {
  await openProject();
  await startProgram();
  const { call, stderr } = await startServer([]);
  expect((await call("count", { model: "users" })).result).toEqual({ count: 60 });
  const stray = `process.stdout.write("printed\\n");
void Promise.reject(new Error("lost"));
setTimeout(() => { throw new Error("late"); }, 1);
`;
  await project.write({ "models/models.ts": models("") + stray });
  for (let i = 0; i < 3; i++)
    expect((await call("count", { model: "users" })).result).toEqual({ count: 60 });
  expect(stderr()).toMatch(/printed.*cause: Error: lost/s);
}, 240_000);
