import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { contents, players, playersConfig, playersProject } from "../players-project.js";
import { config, createProject, modelModule, type Project } from "../project.js";
import { seedProject } from "../seed-project.js";

const command = fileURLToPath(new URL("../../bin/keywright.js", import.meta.url));

let project: Project;

afterEach(() => project.remove());

/** Runs the command with standard output and standard error that nobody reads. */
function spawnUnread(args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, [command, ...args], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  child.stderr.destroy();
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
}

it("seed runs as a process, with progress on standard error", async () => {
  project = await seedProject();
  const { stdout, stderr, exitCode } = await project.spawn([
    ...["seed", "--rows", "tags=30", "--seed", "1", "--json"],
  ]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("tags  30 / 30 rows");
  expect(JSON.parse(stdout).result).toMatchObject({ status: "done", seed: 1, dryRun: false });
});

describe("the output of a command", () => {
  it("may have no reader any more: the work continues to its end", async () => {
    project = await playersProject(players(2000), '{ byScore: { key: "score" } }');
    expect(await spawnUnread(["migrate", "run", "--accept-all"])).toBe(0);
    expect(await contents(project, ["players_by_score"])).toHaveLength(2000);
  });

  it.runIf(existsSync("/dev/full"))("is all written, or the command has failed", async () => {
    project = await createProject({
      "keywright.config.ts": config,
      "models/user.ts": modelModule("User", "users"),
    });
    const full = await open("/dev/full", "w");
    try {
      const child = spawn(process.execPath, [command, "generate", "--json"], {
        cwd: project.folder,
        stdio: ["ignore", full.fd, "pipe"],
      });
      let stderr = "";
      child.stderr!.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      const exitCode = await new Promise((resolve) => child.on("close", resolve));
      expect(stderr).toContain("error KW_FILE_FAILED");
      expect(stderr).toContain("KW_FILE_FAILED: standard output: it cannot be read or written;");
      expect(exitCode).toBe(1);
    } finally {
      await full.close();
    }
  });

  it("has nothing of what the project's modules print", async () => {
    const print = [
      'import own from "node:console";',
      'console.log("global"); own.log("imported"); process.stdout.write("written\\n");\n',
    ].join("\n");
    project = await createProject({
      "keywright.config.ts": print + config,
      "models/user.ts": print + modelModule("User", "users"),
    });
    const { exitCode, stdout, stderr } = await project.spawn(["generate", "--json"]);
    expect(JSON.parse(stdout).result).toMatchObject({ models: 1 });
    const printed = "global\nimported\nwritten\n";
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: printed + printed });
  });
});

describe("a process that ends before its command", () => {
  it.each([
    ["awaits what never comes", "await new Promise(() => undefined);\n"],
    ["ends it", "process.exit(0);\n"],
  ])("has failed: a module %s", async (_, text) => {
    project = await createProject({
      "keywright.config.ts": text + config,
      "models/user.ts": modelModule("User", "users"),
    });
    const { exitCode, stdout, stderr } = await project.spawn(["generate"]);
    expect(stderr).toContain("error KW_COMMAND_UNFINISHED: the process ended before the command");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  });

  it("has failed, and prints it as JSON: a module lets a promise reject", async () => {
    project = await createProject({
      "keywright.config.ts": `void Promise.reject(new Error("lost"));\n${config}`,
      "models/user.ts": modelModule("User", "users"),
    });
    const { exitCode, stdout } = await project.spawn(["generate", "--json"]);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: "KW_PROJECT_CODE",
      details: { cause: { message: "lost" } },
    });
    expect(exitCode).toBe(1);
  });

  it("has failed: the function that opens the database never does", async () => {
    project = await playersProject(players(1), "{}", {
      "keywright.config.ts": playersConfig().replace(
        /database: .*/,
        "database: () => new Promise(() => undefined),",
      ),
    });
    const { exitCode, stderr } = await project.spawn(["verify"]);
    expect(stderr).toContain("KW_COMMAND_UNFINISHED");
    expect(exitCode).toBe(1);
  });
});

/** The progress of a migration. */
const counted = {
  model: "cities",
  indexes: ["byPopulation"],
  phase: "building",
  done: 45_000,
  total: 135_233,
  perSecond: 210_000.4,
};

it("a progress bar shows the cursor again where a signal ends the process, which it still does", async () => {
  project = await createProject({});
  const module = new URL("../../dist/progress/migration-progress.js", import.meta.url);
  const program = `
    import { migrationProgress } from ${JSON.stringify(module.href)};
    process.stderr.isTTY = true;
    migrationProgress().onProgress(${JSON.stringify(counted)});
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    cwd: project.folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.setEncoding("utf8");
  for await (const chunk of child.stderr) {
    if (text === "") child.kill("SIGTERM");
    text += chunk;
  }
  if (child.signalCode === null && child.exitCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGTERM");
  expect(text.lastIndexOf("\u001b[?25h")).toBeGreaterThan(text.lastIndexOf("\u001b[?25l"));
});
