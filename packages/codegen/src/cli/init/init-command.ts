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
  isModuleFolder,
  type Plan,
  planFiles,
} from "../../init/plan-files.js";
import { findTsconfig } from "../../project/config/read-tsconfig.js";
import { posix } from "../../project/files/paths.js";
import { writeFiles } from "../../project/files/write-files.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { isInteractive, shownPath, styled, type Terminal } from "../terminal/terminal.js";
import { columnsOf, helpText, wrap } from "../terminal/text/wrap.js";
import { askAnswers, type InitAnswers } from "./ask-answers.js";

const help = helpText(`
Examples:
  $ keywright init                ask questions, then write the files
  $ keywright init --yes          ask nothing, for scripts
  $ keywright init my-app --yes   set up another folder, which is created if necessary
  $ keywright init --models lib/models --output lib/db

Writes:
  keywright.config.ts      the folders of models and generated code, and how to open the database
  src/models/user.ts       an example model, if the folder of the models has no model
  package.json             the scripts db:generate and db:migrate, and "type": "module" if you accept it
  .gitignore               the folder of the database, in a Git repository
  tsconfig.json            if there is none, except in a program of CommonJS
and in a folder without a program:
  package.json
  src/main.ts              an example program

Existing files are not replaced, and existing scripts are not changed. If the folder already has a
keywright.config.* file, nothing is written. Nothing is installed: the commands for that are printed.

Exit codes: 0 done; 1 failed or cancelled; 2 wrong usage, such as no terminal for questions and no
--yes.`);

interface Options extends Partial<InitAnswers> {
  readonly yes?: true;
}

export function initCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("init")
    .description("set up Keywright in a new or an existing project")
    .argument("[folder]", "the folder of the project; the default is the current folder")
    .option("-y, --yes", "ask nothing and accept the defaults")
    .option("--models <folder>", "the folder of the models, such as src/models")
    .option("--output <folder>", "the folder of the generated code, such as src/db")
    .option("--database <folder>", "the folder of the database, such as data/app")
    .option(
      "--esm",
      'set "type": "module" in package.json; the default in a folder without a program',
    )
    .option("--no-esm", "keep the type of package.json")
    .addHelpText("after", help);
  return command.action(async (name: string | undefined, { yes, ...options }: Options) => {
    const folder = resolve(terminal.folder, name ?? ".");
    assertUnconfigured(folder);
    const { esm: _, ...paths } = options;
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
    const proposed = { ...proposedAnswers(folder), esm: isBare(folder), ...options };
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
    const plan = await planFiles(folder, tidied, answers.esm);
    await writeFiles(plan.files, (path, cause) => new ProjectFileError({ path }, cause));
    terminal.stdout.write(await summary(terminal, folder, tidied, plan));
    exit(exitCodes.done);
  });
}

async function summary(
  terminal: Terminal,
  folder: string,
  answers: Answers,
  { files, packageJson, isNew }: Plan,
): Promise<string> {
  const { stdout } = terminal;
  const bold = (text: string) => styled(stdout, "bold", text);
  const written = files.map(({ path, state }) => {
    const verb = styled(stdout, state === "created" ? "green" : "yellow", state);
    return `${verb} ${posix(shownPath(terminal, path))}`;
  });
  const enter = folder === terminal.folder ? [] : [`cd ${shownPath(terminal, folder)}`];
  const steps = [
    ...enter,
    ...nextSteps(folder, packageJson, isNew ? builtProgramPath(answers) : undefined),
  ];
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
