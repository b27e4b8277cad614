import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, symlink } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { summary } from "../../src/cli/generate/generate-summary.js";
import { type Round, watchAndGenerate } from "../../src/generate/watch.js";
import { config, createProject, modelModule, type Project } from "../project.js";

const command = fileURLToPath(new URL("../../bin/keywright.js", import.meta.url));

/** Rounds of a watched project, one after the other. */
interface Watching {
  /** Waits for the next round: its summary, or the code of its error. */
  next(): Promise<string>;
  /** Ends it, and returns how many rounds there were. */
  end(): Promise<number>;
}

let project: Project;
let watching: Watching | undefined;

afterEach(async () => {
  await watching?.end();
  watching = undefined;
  await project.remove();
});

function startWatching(): Watching {
  const ending = new AbortController();
  const rounds: Round[] = [];
  let [seen, wake] = [0, () => {}];
  const ended = watchAndGenerate({
    folder: project.folder,
    signal: ending.signal,
    onRound(round) {
      rounds.push(round);
      wake();
    },
  });
  const started = {
    next: async () => {
      if (rounds.length === seen) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const round = rounds[seen++]!;
      return "result" in round ? summary(round.result) : (round.error as { code: string }).code;
    },
    end: async () => {
      ending.abort();
      await ended;
      return rounds.length;
    },
  };
  watching = started;
  return started;
}

describe("generate --watch", () => {
  it("generates again whenever a model, what it imports or the configuration changes", async () => {
    project = await createProject({
      "keywright.config.ts": config,
      "models/user.ts": modelModule("User", "users")
        .replace('name: "users"', "name: tableName")
        .replace("import * as z", 'import { tableName } from "../names.js";\nimport * as z'),
      "names.ts": 'export const tableName = "users";\n',
    });
    const { next } = startWatching();
    expect(await next()).toContain("1 model: 3 files written, 0 unchanged.");

    await project.write({ "names.ts": 'export const tableName = "people";\n' });
    expect(await next()).toContain("3 files written, 0 unchanged, 1 removed.");

    await project.write({ "models/post.ts": modelModule("Post", "posts") });
    expect(await next()).toContain("2 models: 3 files written, 1 unchanged.");

    await rm(project.path("models/post.ts"));
    expect(await next()).toContain("1 model: 2 files written, 1 unchanged, 1 removed");

    await project.write({ "keywright.config.ts": config.replace('"db"', '"code"') });
    expect(await next()).toContain("1 model: 2 files written, 1 unchanged.");
    expect((await readdir(project.path("code"))).sort()).toEqual(["index.ts", "people.ts"]);
  });

  it("shows an error and continues, also if what was missing is made", async () => {
    project = await createProject({
      "keywright.config.ts": config,
      "models/user.ts": 'export { User } from "../elsewhere/user.js";\n',
    });
    const { next } = startWatching();
    expect(await next()).toBe("KW_MODULE_FAILED");
    await project.write({ "elsewhere/user.ts": modelModule("User", "users") });
    expect(await next()).toContain("1 model: 3 files written, 0 unchanged.");
  });

  it("does nothing for its own output or for files that no model needs", async () => {
    project = await createProject({
      // The generated files are where models are looked for.
      "keywright.config.ts": 'export default { models: "**/*.model.ts", output: "src" };\n',
      "src/user.model.ts": modelModule("User", "users"),
      "src/app.ts": "export const app = 1;\n",
    });
    const { next, end } = startWatching();
    await next();
    await project.write({ "src/app.ts": "export const app = 2;\n", "data/000001.log": "x" });
    // Long enough for a round to begin: that none does is no event.
    await setTimeout(500);
    await project.write({ "src/user.model.ts": modelModule("User", "people") });
    expect(await next()).toContain("3 files written, 0 unchanged, 1 removed.");
    await project.write({ "src/user.model.ts": modelModule("User", "users") });
    expect(await next()).toContain("3 files written, 0 unchanged, 1 removed.");
    expect(await end()).toBe(3);
    expect(await readFile(project.path("src/app.ts"), "utf8")).toBe("export const app = 2;\n");
  });

  it.skipIf(process.platform === "win32")(
    "shows each round in a line and ends with 0 at Ctrl-C",
    async () => {
      project = await createProject({
        "keywright.config.ts": config,
        "models/user.ts": "export const broken = ;\n",
      });
      const child = spawn(process.execPath, [command, "generate", "--watch"], {
        cwd: project.folder,
        stdio: ["ignore", "pipe", "pipe"],
      });
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      const [line] = await once(child.stdout.setEncoding("utf8"), "data");
      expect(line).toMatch(
        /^\S+ Failed\. Nothing was written\. Waiting for changes\. Ctrl-C stops\.\n$/,
      );
      child.kill("SIGINT");
      expect(await once(child, "close")).toEqual([0, null]);
      expect(stderr).toContain("KW_MODULE_FAILED");
    },
  );

  it("passes over links that lead nowhere, also beside the models", async () => {
    project = await createProject({
      "keywright.config.ts": config,
      "models/user.ts": modelModule("User", "users"),
    });
    await symlink("b", project.path("a"), "file");
    await symlink("a", project.path("b"), "file");
    await symlink("c.ts", project.path("models/c.ts"), "file");
    const { next } = startWatching();
    expect(await next()).toContain("1 model: 3 files written, 0 unchanged.");
    await project.write({ "models/user.ts": modelModule("User", "people") });
    expect(await next()).toContain("1 model: 3 files written, 0 unchanged, 1 removed.");
  });

  it("ends with 0 where nobody reads its output any more", async () => {
    project = await createProject({
      "keywright.config.ts": config,
      "models/user.ts": modelModule("User", "users"),
    });
    const child = spawn(process.execPath, [command, "generate", "--watch"], {
      cwd: project.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    try {
      await once(child.stdout, "data");
      child.stdout.destroy();
      await project.write({ "models/user.ts": modelModule("User", "people") });
      expect(await once(child, "exit")).toEqual([0, null]);
    } finally {
      child.kill();
    }
  });

  it("fails at once where there is no configuration", async () => {
    project = await createProject({});
    const { exitCode, stderr } = await project.run(["generate", "--watch", "--config", "other.ts"]);
    expect(stderr).toContain("KW_CONFIG_MISSING");
    expect(exitCode).toBe(1);
  });

  it("is a usage error with --check", async () => {
    project = await createProject({});
    const { exitCode, stderr } = await project.run(["generate", "--watch", "--check"]);
    expect(stderr).toContain("option '--watch' cannot be used with option '--check'");
    expect(exitCode).toBe(2);
  });

  it("prints a line of JSON for each round with --json", async () => {
    project = await createProject({
      "keywright.config.ts": config,
      "models/user.ts": modelModule("User", "users"),
    });
    const child = spawn(process.execPath, [command, "generate", "--watch", "--json"], {
      cwd: project.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const next = async () => JSON.parse((await lines.next()).value);
      expect(await next()).toMatchObject({ result: { models: 1 } });
      await project.write({ "models/user.ts": "export const x = ;\n" });
      expect(await next()).toMatchObject({ error: { code: "KW_MODULE_FAILED" } });
      await project.write({ "models/user.ts": modelModule("User", "people") });
      expect(await next()).toMatchObject({ result: { models: 1 } });
    } finally {
      child.kill();
    }
  });
});
