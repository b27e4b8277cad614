import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProject, type Project } from "./project.js";

/** What bash offers when the key is pressed behind the last of these words. */
function offered(script: string, words: readonly string[], folder: string): string[] {
  const program = `
compopt() { :; }
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
"$(complete -p keywright | sed 's/.*-F \\([^ ]*\\) .*/\\1/')" keywright
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ["--noprofile", "--norc", "-c", program, "bash", script, "keywright", ...words];
  const lines = execFileSync("bash", args, { encoding: "utf8", cwd: folder }).split("\n");
  return lines.filter((line) => line !== "");
}

describe.skipIf(process.platform === "win32")("the completion in bash", () => {
  let project: Project;
  let script: string;

  beforeAll(async () => {
    project = await createProject({ "a b.ts": "", "keywright.config.ts": "" });
    const { stdout, exitCode } = await project.run(["completion", "bash"]);
    expect(exitCode).toBe(0);
    await project.write({ "completion.bash": stdout });
    script = project.path("completion.bash");
  });

  afterAll(() => project.remove());

  it.each([
    { words: ["gen"], offers: ["generate"] },
    { words: ["generate", "--c"], offers: ["--check", "--config"] },
    { words: ["generate", "--check", "--w"], offers: ["--watch"] },
    { words: ["migrate", "pl"], offers: ["plan"] },
    { words: ["migrate", "new", "--mo"], offers: ["--model"] },
    { words: ["completion", ""], offers: ["bash", "zsh", "fish"] },
    { words: ["help", "ini"], offers: ["init"] },
    { words: ["generate", "--config", "key"], offers: ["keywright.config.ts"] },
    { words: ["generate", "--config", "=", "key"], offers: ["keywright.config.ts"] },
    { words: ["generate", "--config", "a"], offers: ["a b.ts"] },
    // What an option takes is no command, whatever it looks like.
    { words: ["generate", "--config", "migrate", "--wa"], offers: ["--watch"] },
    { words: ["unheard-of"], offers: [] },
  ])("offers $offers behind $words", ({ words, offers }) => {
    expect(offered(script, words, project.folder)).toEqual(offers);
  });

  it("runs nothing of what is typed", () => {
    const words = ["generate", `$(touch ${join(project.folder, "touched")})`, "--ch"];
    expect(offered(script, words, project.folder)).toEqual(["--check"]);
    expect(existsSync(join(project.folder, "touched"))).toBe(false);
  });
});

describe("keywright completion", () => {
  let project: Project;

  beforeAll(async () => {
    project = await createProject({});
  });

  afterAll(() => project.remove());

  it.each(["bash", "zsh", "fish"])("knows commands within commands in %s", async (shell) => {
    const { exitCode, stdout } = await project.run(["completion", shell]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("'migrate|plan'");
    expect(stdout).toContain("'generate|--config'");
  });

  it("refuses other shells, and says which there are", async () => {
    const { exitCode, stderr } = await project.run(["completion", "tcsh"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Allowed choices are bash, zsh, fish.");
  });
});
