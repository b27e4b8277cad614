import { openKv } from "@keywright/core";
import { createDatabase, defineJob } from "@keywright/orm";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { createProgram } from "../src/cli/program.js";
import { playersConfig, playersModule } from "./players-project.js";
import { createProject, type Project, startHere, stopStarted } from "./project.js";

/** Commands whose standard output is a protocol. test/slow has their tests. */
const speaking: readonly string[] = ["mcp"];

/** The words of a command line that succeeds in {@link project}, for each command. */
const scenarios: Readonly<Record<string, readonly string[]>> = {
  init: ["--yes", "new"],
  generate: [],
  "migrate plan": [],
  "migrate new": ["changed"],
  "migrate run": [],
  "migrate status": ["--failed", "players"],
  "migrate resume": [],
  "migrate rollback": [],
  log: ["on"],
  seed: ["--rows", "players=2", "--append"],
  verify: [],
  repair: ["damaged"],
  adopt: ["--dry-run"],
  backup: ["backups"],
  "backup verify": ["backups"],
  restore: ["backups", "--to", "restored"],
  changes: [],
  "jobs list": ["send-mail"],
  "jobs retry": ["send-mail", "--all"],
  "jobs discard": ["send-mail", "--all"],
  "jobs cancel": ["send-mail", "none"],
  copy: ["data", "copied"],
  introspect: ["data"],
  "inspect ls": [],
  "inspect get": ['["players", "1"]'],
  "inspect stats": [],
  "inspect export": ["--out", "all.jsonl"],
  "inspect import": ["all.jsonl"],
  studio: [],
  serve: [],
  docs: ["queries"],
  completion: ["bash"],
};

/** Commands that run until they are stopped. */
const serving: ReadonlySet<string> = new Set(["studio", "serve"]);

/** Commands whose standard output is lines of JSON anyway. */
const writesLines: ReadonlySet<string> = new Set(["changes"]);

const commands = commandsIn(program(), []);

/** The commands that do something. The others only contain commands. */
function commandsIn(parent: Command, words: readonly string[]): readonly [string, Command][] {
  return parent.commands.flatMap((command) => {
    const names = [...words, command.name()];
    const inner = commandsIn(command, names);
    const isGroup = inner.length > 0 && command.options.length === 0;
    return isGroup ? inner : [[names.join(" "), command] as const, ...inner];
  });
}

function program(): Command {
  const stream = { write: () => true } as unknown as NodeJS.WriteStream;
  const streams = { stdin: {} as NodeJS.ReadStream, stdout: stream, stderr: stream };
  return createProgram({ ...streams, folder: "/", enter: () => undefined }, () => undefined);
}

let project: Project;

beforeAll(async () => {
  project = await createProject({
    "keywright.config.ts": playersConfig(
      `adopt: {
        from: () => openKv(new URL("./old", import.meta.url).pathname),
        models: { players: guideLayout(Player) },
      },`,
      'import { guideLayout } from "@keywright/orm/adopt";\nimport { Player } from "./models/player.js";',
    ),
    "models/player.ts": playersModule('{ byTeam: { key: "team" } }'),
  });
  for (const name of ["old", "damaged"]) await (await openKv(project.path(name))).close();
  await using kv = await openKv(project.path("data"));
  await kv.set(["players", "1"], { id: "1", team: "red", score: "5" });
  await kv.set(["players_by_team", "red", "1"], "1");
  const SendMail = defineJob({ name: "send-mail", schema: z.object({}) });
  await createDatabase({ kv, models: {}, jobs: { sendMail: SendMail } });
});

afterAll(async () => {
  await stopStarted();
  await project?.remove();
});

interface Document {
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly details: object };
}

/** Parses what a command has printed: one document, and nothing else. */
function documentOf(stdout: string): Document {
  const document = JSON.parse(stdout) as Document;
  expect(Object.keys(document).filter((name) => name !== "result" && name !== "error")).toEqual([]);
  return document;
}

const anError = {
  code: expect.stringMatching(/^KW_[A-Z_]+$/),
  message: expect.stringMatching(/\S/),
  remedy: expect.stringMatching(/\S/),
  details: expect.any(Object),
};

it("each command has an option for it, and is in the list of this test", () => {
  const lacking = commands.filter(
    ([, { options }]) => !options.some((one) => one.long === "--json"),
  );
  expect(lacking.map(([name]) => name)).toEqual([]);
  const listed = [...Object.keys(scenarios), ...speaking];
  expect(commands.map(([name]) => name).sort()).toEqual(listed.sort());
});

describe("with --json", () => {
  // One after another, because some need what others have written.
  it.each(Object.entries(scenarios))("keywright %s prints its result", async (name, words) => {
    const args = ["--json", ...name.split(" "), ...words];
    if (serving.has(name)) {
      process.env.KEYWRIGHT_TOKEN = "0123456789abcdef";
      const port = name === "serve" ? ["--port", "0"] : [];
      const line = await startHere(project.folder, [...args, ...port]);
      expect(documentOf(line)).toEqual({ result: { url: expect.stringMatching(/^http:/) } });
      await stopStarted();
      delete process.env.KEYWRIGHT_TOKEN;
      return;
    }
    const { stdout, stderr } = await project.run(args);
    if (writesLines.has(name)) {
      for (const line of stdout.trim().split("\n")) JSON.parse(line);
      return;
    }
    const document = documentOf(stdout);
    expect({ document, stderr }).toHaveProperty("document.result");
    expect(document).not.toHaveProperty("error");
  });

  const all = [...Object.keys(scenarios), ...speaking];
  it.each(all)("keywright %s prints why it is used wrongly", async (name) => {
    const outcome = await project.run([...name.split(" "), "--no-such-option", "--json"]);
    expect(documentOf(outcome.stdout)).toEqual({ error: { ...anError, code: "KW_USAGE" } });
    expect(outcome).toMatchObject({ exitCode: 2, stderr: "" });
  });

  it.each(Object.entries(scenarios))("keywright %s prints why it fails", async (name, words) => {
    const empty = await createProject({});
    try {
      const { exitCode, stdout } = await empty.run([...name.split(" "), ...words, "--json"]);
      const document = documentOf(stdout);
      if (exitCode === 0) expect(document).not.toHaveProperty("error");
      else if (name !== "jobs cancel") expect(document.error).toEqual(anError);
    } finally {
      await empty.remove();
    }
  });
});

it("describes an error with its fields and its cause", async () => {
  const broken = await createProject({ "keywright.config.ts": "throw new Error('no');\n" });
  try {
    const { stdout, stderr, exitCode } = await broken.run(["generate", "--json"]);
    expect(documentOf(stdout).error).toEqual({
      code: "KW_MODULE_FAILED",
      message: expect.stringMatching(/: loading the module failed at .*keywright\.config\.ts:1$/),
      remedy: expect.stringContaining("correct it as the cause says"),
      details: {
        path: broken.path("keywright.config.ts"),
        at: expect.stringContaining("keywright.config.ts:1"),
        cause: { name: "Error", message: "no" },
      },
    });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 1 });
  } finally {
    await broken.remove();
  }
});

it("a list that cannot be read to its end is a document with an error", async () => {
  const broken = await createProject({
    "keywright.config.ts": `import { openKv } from "@keywright/core";
export default { models: "models/*.ts", output: "db", database: async () => {
  const kv = await openKv();
  await kv.set(["a"], 1);
  async function* list() {
    yield* kv.list({ prefix: [] });
    throw new Error("the wire broke");
  }
  return { get: kv.get.bind(kv), getMany: kv.getMany.bind(kv), list, atomic: kv.atomic.bind(kv), close: kv.close.bind(kv) };
} };
`,
  });
  try {
    const { stdout, exitCode } = await broken.run(["inspect", "ls", "--all", "--json"]);
    const { result, error } = documentOf(stdout);
    expect(result).toMatchObject([{ key: ["a"] }]);
    expect(error).toMatchObject({
      code: "KW_PROJECT_CODE",
      details: { cause: { message: "the wire broke" } },
    });
    expect(exitCode).toBe(1);
  } finally {
    await broken.remove();
  }
});

it("has no password of a URL, and no token", async () => {
  process.env.KEYWRIGHT_TOKEN = "a-token-of-many-characters";
  const secret = await createProject({
    "keywright.config.ts":
      "throw new Error(`postgres://ada:pass/w:rd@db.example.com/app ${process.env.KEYWRIGHT_TOKEN}`);\n",
  });
  try {
    for (const args of [["generate", "--json"], ["generate"]]) {
      const { stdout, stderr } = await secret.run(args);
      expect(stdout + stderr).toContain("postgres://…@db.example.com/app …");
      expect(stdout + stderr).not.toMatch(/pass\/w|a-token/);
    }
  } finally {
    delete process.env.KEYWRIGHT_TOKEN;
    await secret.remove();
  }
});

it.each([
  { args: ["--help"] },
  { args: ["--version"] },
  { args: ["help", "migrate", "plan"] },
  { args: ["migrate", "plan", "--help"] },
])("$args is a text in a document", async ({ args }) => {
  const { stdout, exitCode } = await project.run([...args, "--json"]);
  expect(documentOf(stdout)).toEqual({ result: { text: expect.stringMatching(/\S/) } });
  expect(exitCode).toBe(0);
});

it.each([{ args: [] }, { args: ["migrate"] }, { args: ["nope"] }])(
  "without a command it is a wrong usage: $args",
  async ({ args }) => {
    const { stdout, exitCode } = await project.run([...args, "--json"]);
    expect(documentOf(stdout)).toEqual({ error: { ...anError, code: "KW_USAGE" } });
    expect(exitCode).toBe(2);
  },
);
