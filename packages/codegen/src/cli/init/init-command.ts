import { resolve } from "node:path";
import { Command, Help } from "commander";
import {
  type Answers,
  answerFault,
  answersFault,
  proposedAnswers,
  tidyAnswers,
} from "../../init/answers.js";
import { programPath, programText } from "../../init/file-texts.js";
import { nextSteps } from "../../init/next-steps.js";
import { assertUnconfigured, type Plan, planFiles } from "../../init/plan-files.js";
import { writeFiles } from "../../init/write-files.js";
import { posix } from "../../project/paths.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { isInteractive, shownPath, styled, type Terminal } from "../terminal/terminal.js";
import { askAnswers } from "./ask-answers.js";

const help = `
Examples:
  $ keywright init                ask three questions, then write the files
  $ keywright init --yes          ask nothing, as in scripts
  $ keywright init my-app --yes   begin in another folder, which is made
  $ keywright init --models lib/models --output lib/db

Writes:
  keywright.config.ts      where the models and the generated files are, and how the database is opened
  src/models/user.ts       a first model, where the folder of the models has none
  package.json             the scripts db:generate and db:migrate
  .gitignore               the folder of the database, in a Git repository
and in a folder in which nothing has been programmed yet:
  package.json, tsconfig.json

What is there stays as it is: no file is replaced, no script changed. A project that has a
keywright.config.* is left alone altogether. Nothing is installed: the commands to do so are printed.

Exit codes: 0 done, 1 failed or given up, 2 wrong usage, such as no terminal to ask and no --yes.`;

interface Options extends Partial<Answers> {
  readonly yes?: true;
}

/** Creates the command `keywright init`. */
export function initCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("init")
    .description("begin with Keywright, in a new project or in one that exists")
    .argument("[folder]", "of the project; without it, the one that you are in")
    .option("-y, --yes", "ask nothing and take what is proposed")
    .option("--models <folder>", "where the models are, such as src/models")
    .option("--output <folder>", "where the generated code goes, such as src/db")
    .option("--database <folder>", "where the database lives, such as data/app")
    .addHelpText("after", help);
  return command.action(async (name: string | undefined, { yes, ...options }: Options) => {
    const folder = resolve(terminal.folder, name ?? ".");
    assertUnconfigured(folder);
    for (const [option, value] of Object.entries(options) as [keyof Answers, string][]) {
      const fault = answerFault(folder, option, value);
      if (fault !== undefined) return command.error(`error: --${option} '${value}': ${fault}`);
    }
    if (!yes && !isInteractive(terminal)) {
      return command.error(
        "error: there is no terminal to ask in: say --yes to take what is proposed",
      );
    }
    const proposed = { ...proposedAnswers(folder), ...options };
    const answers = yes ? proposed : await askAnswers(terminal, folder, options, proposed);
    if (answers === undefined) {
      terminal.stderr.write("Given up: nothing was written.\n");
      return exit(exitCodes.failed);
    }
    const fault = answersFault(folder, answers);
    if (fault !== undefined) return command.error(`error: ${fault}`);
    const tidied = tidyAnswers(folder, answers);
    const plan = await planFiles(folder, tidied);
    await writeFiles(plan.files);
    terminal.stdout.write(summary(terminal, folder, tidied, plan));
    exit(exitCodes.done);
  });
}

function summary(
  terminal: Terminal,
  folder: string,
  answers: Answers,
  { files, packageJson }: Plan,
): string {
  const { stdout } = terminal;
  const bold = (text: string) => styled(stdout, "bold", text);
  const written = files.map(({ path, state }) => {
    const verb = styled(stdout, state === "created" ? "green" : "yellow", state);
    return `${verb} ${posix(shownPath(terminal, path))}`;
  });
  const enter = folder === terminal.folder ? [] : [`cd ${shownPath(terminal, folder)}`];
  const steps = [...enter, ...nextSteps(folder, packageJson)];
  const isModule = packageJson.type === "module";
  const note = isModule ? [] : ["", new Help().boxWrap(commonJsNote, stdout.columns || 80)];
  const next = ["", bold("Next:"), ...steps.map(indented)];
  const program = [
    "",
    bold(`Then, in a program such as ${programPath}:`),
    ...programText(answers).split("\n").map(indented),
  ];
  return `${[...written, ...note, ...next, ...program].join("\n")}\n`;
}

function indented(line: string): string {
  return line === "" ? "" : `  ${line}`;
}

const commonJsNote =
  'package.json does not say "type": "module". Keywright is made of ES modules: unless a bundler sees to that, run `npm pkg set type=module`, or use .mts for the files that import it.';
