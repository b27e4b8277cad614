import { dirname, resolve } from "node:path";
import { styleText } from "node:util";
import { Command } from "commander";
import { escapeControls } from "../inspect/entries/escape-controls.js";
import { adoptCommand } from "./adopt/adopt-command.js";
import { backupCommand } from "./backup/backup-command.js";
import { restoreCommand } from "./backup/restore-command.js";
import { completionCommand } from "./completion/completion-command.js";
import { copyCommand } from "./copy/copy-command.js";
import { docsCommand } from "./docs/docs-command.js";
import { generateCommand } from "./generate/generate-command.js";
import { initCommand } from "./init/init-command.js";
import { inspectCommand } from "./inspect/inspect-command.js";
import { introspectCommand } from "./introspect/introspect-command.js";
import { jobsCommand } from "./jobs/jobs-command.js";
import { changesCommand } from "./log/changes-command.js";
import { logCommand } from "./log/log-command.js";
import { mcpCommand } from "./mcp/mcp-command.js";
import { migrateCommand } from "./migrate/migrate-command.js";
import { repairCommand } from "./repair/repair-command.js";
import { seedCommand } from "./seed/seed-command.js";
import { serveCommand } from "./serve/serve-command.js";
import { studioCommand } from "./studio/studio-command.js";
import type { ExitCode } from "./terminal/process/exit-codes.js";
import { hasColors, type MakeCommand, type Terminal } from "./terminal/terminal.js";
import { columnsOf, helpText, minColumns, wrapped } from "./terminal/text/wrap.js";
import { versionOf } from "./terminal/version.js";
import { verifyCommand } from "./verify/verify-command.js";

const commands: Readonly<Record<string, readonly MakeCommand[]>> = {
  "Models and code:": [initCommand, generateCommand],
  "The database:": [
    migrateCommand,
    seedCommand,
    verifyCommand,
    repairCommand,
    adoptCommand,
    backupCommand,
    restoreCommand,
    logCommand,
    changesCommand,
    jobsCommand,
    copyCommand,
    introspectCommand,
    inspectCommand,
    studioCommand,
    serveCommand,
    mcpCommand,
  ],
  "The command itself:": [docsCommand, completionCommand],
};

const help = `
Start with \`keywright init\`. \`keywright help <command>\` prints the options and examples of a command.`;

/**
 * Creates the program. It throws a `CommanderError` instead of ending the process.
 *
 * @param writeHelp writes help texts. By default they go to standard output.
 */
export function createProgram(
  terminal: Terminal,
  exit: (code: ExitCode) => void,
  writeHelp: (text: string) => void = (text) => terminal.stdout.write(escapeControls(text)),
): Command {
  const program = new Command("keywright")
    .description(
      "generate typed repositories from Keywright models, and migrate, verify and inspect their databases",
    )
    .usage("<command> [options]")
    .version(versionOf(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .configureOutput({
      writeOut: writeHelp,
      writeErr: (text) => {
        if (!terminal.isJson) terminal.stderr.write(wrapped(terminal.stderr, text));
      },
      getOutHasColors: () => hasColors(terminal.stdout),
      getErrHasColors: () => hasColors(terminal.stderr),
      getOutHelpWidth: () => columnsOf(terminal.stdout),
      getErrHelpWidth: () => columnsOf(terminal.stderr),
    })
    .configureHelp({
      minWidthToWrap: minColumns,
      commandDescription: (command) => sentence(command.description()),
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
    })
    .addHelpText("after", helpText(help))
    .hook("preAction", (_, command) => enterProject(terminal, command.opts()))
    .exitOverride();
  for (const [group, makers] of Object.entries(commands)) {
    program.commandsGroup(group);
    for (const make of makers) program.addCommand(make(terminal, exit));
  }
  program.helpCommand("help [command...]", "print the help of a command");
  inheritSettings(program);
  return program;
}

/**
 * Makes the folder of the configuration the current one, so that relative paths in the project's
 * code, such as that of its database, start there. Paths on the command line are relative to the
 * terminal's folder.
 */
function enterProject({ folder, enter }: Terminal, { config }: { readonly config?: string }): void {
  try {
    enter(resolve(folder, dirname(config ?? "")));
  } catch {
    // If the folder does not exist, the command reports that there is no configuration.
  }
}

/** Makes nested commands write and throw their errors like the program. */
function inheritSettings(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inheritSettings(command);
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
