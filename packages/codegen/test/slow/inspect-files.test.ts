import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LineOutput } from "../../src/inspect/entries/line-output.js";
import { config, createInspectedProject, type InspectedProject, many } from "../inspect-project.js";

const command = fileURLToPath(new URL("../../bin/keywright.js", import.meta.url));
const isWindows = process.platform === "win32";

let project: InspectedProject;
const started: ChildProcess[] = [];

beforeEach(async () => {
  project = await createInspectedProject();
});

afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await project.remove();
});

const importFile = (...args: string[]) => project.run(["inspect", "import", "all.jsonl", ...args]);
const exportTo = (out: string) => project.run(["inspect", "export", "--out", out]);
const temporaryFiles = async (folder = ".") =>
  (await readdir(project.path(folder))).filter((name) => name.endsWith(".tmp"));

/** The real command, which can be stopped. */
function start(args: readonly string[]) {
  const child = spawn(process.execPath, [command, "inspect", ...args], { cwd: project.folder });
  started.push(child);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  }
  child.stdin.on("error", () => undefined);
  const ended = once(child, "close").then(([exitCode, signal]) => ({ exitCode, signal, ...said }));
  /** Waits until it says something on its standard error. */
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (said.stderr.includes(text)) resolve();
      };
      child.on("close", () => reject(new Error(`It has ended with: ${said.stderr}`)));
      child.stderr.on("data", check);
      check();
    });
  return { child, ended, says };
}

/** The database says when something is read from it. */
const sayingConfig = config.replace(
  'openKv(import.meta.dirname + "/data")',
  `openKv(import.meta.dirname + "/data").then((kv) => {
    const saying = (reads) => {
      for (const name of ["getMany", "list"]) {
        const read = reads[name].bind(reads);
        reads[name] = (...args) => {
          process.stderr.write("reading\\n");
          return read(...args);
        };
      }
      return reads;
    };
    const openView = kv.openView.bind(kv);
    kv.openView = async () => saying(await openView());
    return saying(kv);
  })`,
);

describe("a file of inspect export", () => {
  it.skipIf(isWindows)("keeps the mode of the one that it replaces", async () => {
    await project.fill(many(1));
    await project.write({ "all.jsonl": "before" });
    for (const mode of [0o600, 0o666]) {
      await chmod(project.path("all.jsonl"), mode);
      await exportTo("all.jsonl");
      expect((await stat(project.path("all.jsonl"))).mode & 0o777).toBe(mode);
    }
    expect(await project.read("all.jsonl")).toContain('"end"');
  });

  it.skipIf(isWindows)("is where a link leads, also one that leads nowhere yet", async () => {
    await project.fill(many(1));
    await project.write({ "folder/there.jsonl": "before" });
    await symlink("folder/there.jsonl", project.path("a.jsonl"));
    await symlink("folder/not-there.jsonl", project.path("b.jsonl"));
    await symlink("b.jsonl", project.path("c.jsonl"));
    for (const name of ["a", "c"]) {
      expect((await exportTo(`${name}.jsonl`)).exitCode).toBe(0);
      expect((await lstat(project.path(`${name}.jsonl`))).isSymbolicLink()).toBe(true);
    }
    expect(await project.read("folder/there.jsonl")).toContain('"end"');
    expect(await project.read("folder/not-there.jsonl")).toContain('"end"');
    expect(await temporaryFiles("folder")).toEqual([]);
  });

  it.skipIf(isWindows)("is written to a named pipe as it comes, which stays", async () => {
    await project.fill(many(3000));
    await namedPipe("pipe");
    const read = readFile(project.path("pipe"), "utf8");
    const { exitCode, stderr } = await exportTo("pipe");
    expect(stderr).toBe("3,000 entries exported to pipe.\n");
    expect(exitCode).toBe(0);
    expect((await read).trimEnd().split("\n")).toHaveLength(3002);
    expect((await stat(project.path("pipe"))).isFIFO()).toBe(true);
  });

  it("is not whole where a stream does not take it", async () => {
    const full = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(), { code: "ENOSPC" })),
    });
    const output = new LineOutput(full, "a device");
    await output.write("line");
    await expect(output.close()).rejects.toMatchObject({
      code: "KW_FILE_FAILED",
      path: "a device",
      cause: { code: "ENOSPC" },
    });
  });

  it("may have a name as long as a name can be", async () => {
    await project.fill(many(1));
    const name = "x".repeat(255);
    expect((await exportTo(name)).exitCode).toBe(0);
    expect(await project.read(name)).toContain('"end"');
    expect(await temporaryFiles()).toEqual([]);
    const { exitCode, stderr } = await exportTo(`${name}x`);
    expect(stderr).toContain("KW_FILE_FAILED");
    expect(exitCode).toBe(1);
  });

  it("is not there when it cannot be written, and nothing is left behind", async () => {
    await project.fill(many(1));
    await mkdir(project.path("folder"));
    for (const out of ["folder", "nowhere/all.jsonl"]) {
      const { exitCode, stderr } = await exportTo(out);
      expect(stderr).toContain("KW_FILE_FAILED");
      expect(exitCode).toBe(1);
    }
    expect(await temporaryFiles()).toEqual([]);
  });
});

describe("a file of inspect import", () => {
  it.each([
    ["is missing", undefined, "KW_FILE_FAILED: all.jsonl: it cannot be read or written;"],
    ["is no export", "text", "KW_IMPORT_LINE"],
  ])("that %s leaves no new database behind", async (_, text, message) => {
    if (text !== undefined) await project.write({ "all.jsonl": text });
    const { exitCode, stderr } = await importFile();
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
    expect(await readdir(project.folder)).not.toContain("data");
  });

  it.skipIf(isWindows)("may be a named pipe", async () => {
    await project.fill(many(3000));
    const before = await project.content();
    await namedPipe("all.jsonl");
    const exporting = start(["export", "--out", "all.jsonl"]);
    const text = await project.read("all.jsonl");
    await exporting.ended;
    await project.empty();
    const writing = spawn("sh", ["-c", "cat > all.jsonl"], { cwd: project.folder });
    writing.stdin.end(text);
    expect((await importFile()).stdout).toBe("3,000 entries created.\n");
    expect(await project.content()).toEqual(before);
  });
});

describe("Ctrl-C", () => {
  it("ends a command at once while the database is opened", async () => {
    await project.write({
      "keywright.config.ts": `export default {
  models: "no-models/*.ts",
  output: "db",
  database: () => {
    process.stderr.write("opening\\n");
    return new Promise((resolve) => setTimeout(resolve, 600_000));
  },
};
`,
      "all.jsonl": '{"keywright":"export","format":1}\n{"keywright":"end","entries":0}\n',
    });
    for (const args of [["import", "all.jsonl"], ["export", "--out", "new.jsonl"], ["ls"]]) {
      const { child, ended, says } = start(args);
      await says("opening");
      child.kill("SIGTERM");
      expect(await ended).toEqual({
        exitCode: null,
        signal: "SIGTERM",
        stdout: "",
        stderr: "opening\n",
      });
    }
    expect(await readdir(project.folder)).not.toContain("new.jsonl");
  });

  it("stops an import, which continues if it is run again", async () => {
    await project.fill(many(1500));
    const before = await project.content();
    await exportTo("all.jsonl");
    await project.empty();
    const text = await project.read("all.jsonl");
    await project.write({ "keywright.config.ts": sayingConfig });
    const { child, ended, says } = start(["import"]);
    // All but the end: it waits for more when it is stopped.
    child.stdin.write(text.slice(0, -10));
    await says("reading");
    child.kill("SIGINT");
    const { exitCode, stdout, stderr } = await ended;
    expect(stderr).toContain("\nStopping after the current batch. Press Ctrl-C again");
    expect(stdout).toContain("Stopped before the end. To continue, run the command again");
    expect(exitCode).toBe(1);
    expect((await start(["import", "all.jsonl"]).ended).exitCode).toBe(0);
    expect(await project.content()).toEqual(before);
  });

  it.each(["SIGINT", "SIGHUP"] as const)(
    "leaves nothing of an export behind: %s",
    async (signal) => {
      await project.fill(many(3));
      await project.write({
        "all.jsonl": "before",
        "keywright.config.ts": sayingConfig
          .replace(
            "return read(...args);",
            'if (name === "getMany") return read(...args);\n        return waiting();',
          )
          .concat(
            "async function* waiting() {\n  await new Promise((resolve) => setInterval(resolve, 1000, 0));\n}\n",
          ),
      });
      const { child, ended, says } = start(["export", "--out", "all.jsonl"]);
      await says("reading");
      child.kill(signal);
      await says("\nStopping. Press Ctrl-C again to stop at once.");
      expect(await temporaryFiles()).toHaveLength(1);
      child.kill(signal);
      expect((await ended).exitCode).toBe(130);
      expect(await temporaryFiles()).toEqual([]);
      expect(await project.read("all.jsonl")).toBe("before");
    },
  );

  it.skipIf(isWindows)("ends an export to a pipe that nobody reads on", async () => {
    // More than the pipe holds.
    await project.fill([[["large"], "x".repeat(300_000)]]);
    await namedPipe("pipe");
    const reader = spawn("sh", ["-c", "exec < pipe; head -c 1; exec sleep 600"], {
      cwd: project.folder,
    });
    try {
      const { child, ended, says } = start(["export", "--out", "pipe"]);
      await once(reader.stdout, "data");
      child.kill("SIGINT");
      await says("\nStopping.");
      child.kill("SIGINT");
      expect((await ended).exitCode).toBe(130);
    } finally {
      reader.kill();
    }
  });
});

async function namedPipe(name: string): Promise<void> {
  await once(spawn("mkfifo", [project.path(name)]), "close");
}

it("inspect ls ends quietly when nobody reads on", async () => {
  await project.fill(Array.from({ length: 900 }, (_, i) => [["key", "x".repeat(500), i], i]));
  const child = spawn(process.execPath, [command, "inspect", "ls"], { cwd: project.folder });
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  await once(child.stdout, "data");
  child.stdout.destroy();
  const [exitCode] = await once(child, "close");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
});
