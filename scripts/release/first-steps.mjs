import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { done } from "./run.mjs";
import { root } from "./scratch-clone.mjs";
import { openTerminal } from "./terminal.mjs";

const readme = readFileSync(join(root, "README.md"), "utf8");

/** The program of the README, and what it prints. */
const [, program] = /^```ts\n(.*?)^```$/ms.exec(readme);
const [, printed] = /^```text\n(Ada\n.*?)^```$/ms.exec(readme);

/** The commands of the section Install of README.md, without comments. */
function commandsToInstall() {
  const [, commands = ""] = /## Install\n\n```sh\n([^`]+)```/.exec(readme) ?? [];
  const lines = commands.split("\n").map((line) => line.replace(/ *#.*/, ""));
  return lines.filter((line) => line !== "");
}

/** The packages that those commands install. */
export function namesToInstall() {
  const names = commandsToInstall()
    .filter((command) => command.startsWith("npm install "))
    .flatMap((command) => command.split(" ").slice(2))
    .filter((word) => !word.startsWith("-"));
  if (names.length === 0) throw new Error("README.md has no commands that install the packages.");
  return names;
}

/** The questions of `keywright init` in an empty project, in their order. */
const questions = [
  /Which folder contains the models\?/,
  /Which folder should contain the generated code\?/,
  /What should contain the database\?/,
  /Which folder\?/,
  /Set "type": "module" in package\.json\?/,
];

/**
 * Types the first steps of the README into a terminal: the commands of the section Install, the
 * answers to the questions of init, and the commands that init prints.
 */
export async function typeFirstSteps(folder, { env }) {
  mkdirSync(folder, { recursive: true });
  const terminal = await openTerminal(folder, env);
  try {
    let outputs = "";
    for (const command of commandsToInstall()) {
      if (!command.includes("keywright init")) {
        await terminal.run(command);
        continue;
      }
      // Whoever presses Ctrl-C can start again.
      terminal.press(`${command}\r`);
      await terminal.answer(questions[0], "\x03");
      const cancelled = await terminal.ends(command);
      if (cancelled.exitCode !== 1 || !cancelled.text.includes("Nothing was written."))
        throw new Error(`Ctrl-C did not cancel ${command}:\n${cancelled.text}`);
      terminal.press(`${command}\r`);
      for (const question of questions) await terminal.answer(question);
      const { text } = await terminal.ends(command);
      const [, steps = ""] = text.split(/^.* keywright generate\n/m);
      outputs = steps;
    }
    let printed = "";
    for (const [, step] of outputs.matchAll(/^ {2}(\S.*)$/gm)) printed += await terminal.run(step);
    if (!/name: ['"]Ada['"]/.test(printed))
      throw new Error(`The program of keywright init printed no Ada:\n${printed}`);
  } finally {
    await terminal.close();
  }
}

/** Makes an empty project and installs packages by name, with a package manager. */
export async function newProject(folder, install, names, options) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}\n");
  await done(process.execPath, [...install, ...names], { ...options, cwd: folder });
}

/**
 * Walks the first steps of the README in a project: init, generate, the commands that init prints,
 * and the program of the page. Returns the version that the command prints.
 */
export async function walkFirstSteps(folder, options) {
  const within = { ...options, cwd: folder };
  const keywright = (...args) =>
    done(process.execPath, ["node_modules/@keywright/codegen/bin/keywright.js", ...args], within);
  const version = (await keywright("--version")).trim();
  const started = await keywright("init", "--yes");
  await keywright("generate");
  // In the words of the package manager: `npx keywright generate`, `pnpm exec keywright generate`.
  const [, steps] = started.split(/^.* keywright generate\n/m);
  if (steps === undefined) throw new Error(`keywright init named no next steps:\n${started}`);
  let outputs = "";
  for (const step of steps.trim().split(/\n */)) {
    const script = step.endsWith(" tsc")
      ? "node_modules/typescript/bin/tsc"
      : step.slice("node ".length);
    outputs += await done(process.execPath, [script], within);
  }
  if (!/name: ['"]Ada['"]/.test(outputs))
    throw new Error(`The program of keywright init printed no Ada:\n${outputs}`);
  await runProgramOfReadme(folder, options);
  return version;
}

/** Runs the program of the README, which can run again on its own data, and compares its output. */
export async function runProgramOfReadme(folder, options) {
  const within = { ...options, cwd: folder };
  mkdirSync(join(folder, "readme"), { recursive: true });
  writeFileSync(join(folder, "readme/package.json"), '{ "type": "module" }\n');
  writeFileSync(join(folder, "readme/example.ts"), program);
  const compiler = [
    "--ignoreConfig",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--skipLibCheck",
  ];
  const tsc = ["node_modules/typescript/bin/tsc", ...compiler, "--types", "node"];
  await done(process.execPath, [...tsc, "readme/example.ts"], within);
  const output = await done(process.execPath, ["readme/example.js"], within);
  if (output !== printed)
    throw new Error(`The program of the README printed:\n${output}\ninstead of:\n${printed}`);
}
