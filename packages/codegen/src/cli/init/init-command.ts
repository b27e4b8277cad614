import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { ProjectFileError } from "../../errors/codegen-errors.js";
import { importExtensionIn } from "../../generate/import-extension.js";
import {
  type Answers,
  answerFault,
  answersFault,
  proposedAnswers,
  tidyAnswers,
} from "../../init/answers.js";
import {
  builtProgramPath,
  commonJsProgramText,
  programPath,
  programText,
} from "../../init/file-texts.js";
import { nextSteps } from "../../init/next-steps.js";
import {
  assertUnconfigured,
  isBare,
  isConfigured,
  isModuleFolder,
  type Plan,
  planFiles,
} from "../../init/plan-files.js";
import { planSkill } from "../../init/plan-skill.js";
import { findTsconfig } from "../../project/config/read-tsconfig.js";
import { posix } from "../../project/files/paths.js";
import { writeFiles } from "../../project/files/write-files.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { jsonOption } from "../terminal/run-options.js";
import { isInteractive, shownPath, styled, type Terminal } from "../terminal/terminal.js";
import { columnsOf, helpText, wrap, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { askAnswers, type InitAnswers } from "./ask-answers.js";

const help = helpText(`
Examples:
  $ keywright init                ask questions, then write the files
  $ keywright init --yes          ask nothing, for scripts
  $ keywright init my-app --yes   set up another folder, which is created if necessary
  $ keywright init --models lib/models --output lib/db
  $ keywright init --yes --database sqlite:data/app.sqlite
  $ keywright init --skill        add instructions for coding agents, also to a project that is set up

Writes:
  keywright.config.ts      the folders of models and generated code, and how to open the database
  src/models/user.ts       an example model, if the folder of the models has no model
  package.json             the scripts db:generate and db:migrate, and "type": "module" if you accept it
  .gitignore               the folder or the files of the database, in a Git repository
  tsconfig.json            if there is none, except in a program of CommonJS
  .agents/skills/keywright/SKILL.md   with --skill; in .claude if there is such a folder
and in a folder without a program:
  package.json
  src/main.ts              an example program

Existing files are not replaced, and existing scripts are not changed. If the folder already has a
keywright.config.* file, nothing is written. Nothing is installed: the commands for that are printed.

Exit codes: 0 done; 1 failed or cancelled; 2 wrong usage, such as no terminal for questions and no
--yes.`);

interface Options extends Partial<InitAnswers> {
  readonly yes?: true;
  readonly json?: true;
}

export function initCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("init")
    .description("set up Keywright in a new or an existing project")
    .argument("[folder]", "the folder of the project; the default is the current folder")
    .option("-y, --yes", "ask nothing and accept the defaults")
    .option("--models <folder>", "the folder of the models, such as src/models")
    .option("--output <folder>", "the folder of the generated code, such as src/db")
    .option(
      "--database <folder>",
      "the folder of the database, such as data/app, or a file for SQLite, such as sqlite:data/app.sqlite",
    )
    .option(
      "--esm",
      'set "type": "module" in package.json; the default in a folder without a program',
    )
    .option("--no-esm", "keep the type of package.json")
    .option("--skill", "add instructions for coding agents")
    .addOption(jsonOption())
    .addHelpText("after", help);
  return command.action(async (name: string | undefined, { yes, json, ...options }: Options) => {
    const folder = resolve(terminal.folder, name ?? ".");
    const { esm, skill, ...paths } = options;
    const isSkillOnly = skill && esm === undefined && Object.keys(paths).length === 0;
    if (isSkillOnly && isConfigured(folder)) return await addSkill(terminal, folder, exit);
    assertUnconfigured(folder);
    for (const [option, value] of Object.entries(paths) as [keyof Answers, string][]) {
      const fault = answerFault(folder, option, value);
      if (fault !== undefined) return command.error(`error: --${option} '${value}': ${fault}`);
    }
    if (!yes && !isInteractive(terminal)) {
      return command.error(
        "error: there is no terminal for questions: use --yes to accept the defaults",
      );
    }
    const isModule = await isModuleFolder(folder);
    // Another type would break the existing modules of a program.
    const defaults = { ...proposedAnswers(folder), esm: isBare(folder), skill: false };
    const proposed = { ...defaults, ...options };
    const answers = yes
      ? proposed
      : await askAnswers(terminal, folder, options, proposed, isModule);
    if (answers === undefined) {
      terminal.stderr.write("Cancelled. Nothing was written.\n");
      return exit(exitCodes.failed);
    }
    const fault = answersFault(folder, answers);
    if (fault !== undefined) return command.error(`error: ${fault}`);
    const tidied = tidyAnswers(folder, answers);
    const planned = await planFiles(folder, tidied, answers.esm);
    // The configuration comes last.
    const skillFiles = answers.skill ? await planSkill(folder) : [];
    const plan = { ...planned, files: [...skillFiles, ...planned.files] };
    await writeFiles(plan.files, (path, cause) => new ProjectFileError({ path }, cause));
    if (json) writeJson(terminal, jsonResult(terminal, folder, tidied, plan));
    else terminal.stdout.write(await summary(terminal, folder, tidied, plan));
    exit(exitCodes.done);
  });
}

/** Adds only the instructions for coding agents, to a project that has a configuration. */
async function addSkill(
  terminal: Terminal,
  folder: string,
  exit: (code: ExitCode) => void,
): Promise<void> {
  const files = await planSkill(folder);
  await writeFiles(files, (path, cause) => new ProjectFileError({ path }, cause));
  const written = files.map(({ path, state }) => ({ path, state }));
  const lines = files.length > 0 ? fileLines(terminal, files) : [keptText];
  if (terminal.isJson) writeJson(terminal, { files: written, next: [] });
  else writeText(terminal.stdout, lines.join("\n"));
  exit(exitCodes.done);
}

const keptText =
  "The project already has the instructions. To get those of this version, delete the file SKILL.md and run the command again.";

function jsonResult(terminal: Terminal, folder: string, answers: Answers, plan: Plan): object {
  const files = plan.files.map(({ path, state }) => ({ path, state }));
  return { files, next: stepsOf(terminal, folder, answers, plan) };
}

/** Returns the commands that come next. */
function stepsOf(
  terminal: Terminal,
  folder: string,
  answers: Answers,
  { packageJson, isNew }: Plan,
): string[] {
  const enter = folder === terminal.folder ? [] : [`cd ${shownPath(terminal, folder)}`];
  const program = isNew ? builtProgramPath(answers) : undefined;
  return [...enter, ...nextSteps(folder, packageJson, answers.database, program)];
}

async function summary(
  terminal: Terminal,
  folder: string,
  answers: Answers,
  plan: Plan,
): Promise<string> {
  const { stdout } = terminal;
  const { files, packageJson, isNew } = plan;
  const bold = (text: string) => styled(stdout, "bold", text);
  const written = fileLines(terminal, files);
  const steps = stepsOf(terminal, folder, answers, plan);
  const isModule = packageJson.type === "module";
  // A folder of JavaScript in CommonJS has no way to run the generated modules yet.
  const canRun = isModule || (!isNew && findTsconfig(folder) !== undefined);
  const noteText = canRun ? commonJsNote : moduleTypeNote;
  const note = isModule ? [] : ["", wrap(noteText, columnsOf(stdout))];
  const next = ["", bold("Next:"), ...steps.map(indented)];
  const program =
    isNew || !canRun ? [] : await programLines(folder, answers, files, isModule, bold);
  return `${[...written, ...note, ...next, ...program].join("\n")}\n`;
}

function fileLines(terminal: Terminal, files: Plan["files"]): string[] {
  return files.map(({ path, state }) => {
    const verb = styled(terminal.stdout, state === "created" ? "green" : "yellow", state);
    return `${verb} ${posix(shownPath(terminal, path))}`;
  });
}

/** Returns the first lines of a program, with a heading that says where it can be. */
async function programLines(
  folder: string,
  answers: Answers,
  files: Plan["files"],
  isModule: boolean,
  bold: (text: string) => string,
): Promise<string[]> {
  const isTaken = existsSync(join(folder, programPath));
  const place = isTaken
    ? `a module in ${dirname(programPath)}`
    : `a program such as ${programPath}`;
  const hasNewTsconfig = files.some(({ path }) => path === join(folder, "tsconfig.json"));
  const extension = hasNewTsconfig ? "ts" : await shownExtension(join(folder, answers.output));
  const text = isModule ? programText : commonJsProgramText;
  const lines = text(answers, extension).split("\n");
  return ["", bold(`Then, in ${place}:`), ...lines.map(indented)];
}

/** Returns the extension of imports. TypeScript may not be installed yet. */
async function shownExtension(output: string): Promise<"js" | "ts"> {
  return await importExtensionIn(output).catch(() => "js" as const);
}

function indented(line: string): string {
  return line === "" ? "" : `  ${line}`;
}

const commonJsNote =
  'package.json does not contain "type": "module". A program that imports Keywright then needs Node.js 20.19, 22.12 or later, or a bundler.';

const moduleTypeNote =
  'package.json does not contain "type": "module", and Keywright consists of ES modules. Run `npm pkg set type=module`, or use a bundler.';
