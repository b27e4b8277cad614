import { Command } from "commander";
import type { ExitCode } from "../../terminal/process/exit-codes.js";
import type { Terminal } from "../../terminal/terminal.js";
import { helpText } from "../../terminal/text/wrap.js";
import { type MigrateCommandOptions, withMigrateOptions } from "../migrate-options.js";
import { type RunVariant, runMigration } from "./run-migration.js";

const exitCodesHelp = `
Exit codes: 0 done, or nothing to do; 1 failed, stopped, not complete because of duplicates, or rows
would fail; 2 wrong usage; 3 nothing was changed, because breaking steps are not accepted or a
migration is missing.`;

const runHelp = helpText(`
Programs can read and write during the run. If a program has the database open, the command uses it
through the program.

Ctrl-C stops a run after the current batch. The next run continues there, also if the run was killed.

A terminal asks before it runs breaking steps. Without a terminal they must be accepted with --accept
or --accept-all.

--drop-model removes a model that the project no longer has, with its rows, index entries and counters.
A terminal asks first. Without a terminal, the name is enough.

--remove-values removes the values of fields that a model no longer has from its rows, if their removal
from the model was accepted. It names the model. A terminal asks first.

A model, field or index that seems to have been renamed is reported. A terminal asks if it was. If so,
the command changes nothing and says how to keep the rows, values or entries. Without a terminal, the
rows of a model stay, and the removal of a field or index has to be accepted.

If only the code of an index's functions differs, for example because programs are built in different
ways, a terminal asks if they return the same. --same-functions says so for all such indexes, or for those
that it names. Their entries then stay.

Before rows are changed, the change is tried on all rows of the model, which scans them once more. If
some rows would fail, the command lists the first ones and changes nothing, because queries that read
a failed row throw an error, and a rollback is not possible until all rows are changed.
--accept-failures changes rows nevertheless.

Examples:
  $ keywright migrate run --dry-run             show the plan and try the changes of rows
  $ keywright migrate run
  $ keywright migrate run --accept "users.byName: drop-index"
  $ keywright migrate run --drop-model users
  $ keywright migrate run --remove-values users
  $ keywright migrate run --rows-per-second 5000 --json
${exitCodesHelp}`);

export function runCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return migratingCommand("run", terminal, exit, {
    nothingToDo: "Nothing to migrate: the database matches the models.",
    alwaysAsks: false,
    checksAccepted: true,
    createsDatabase: true,
  })
    .description("run the plan, so that the database matches the models")
    .addHelpText("after", runHelp);
}

const resumeHelp = helpText(`
Does the same as \`keywright migrate run\`, with the same options: it continues after the last batch of a
run that was stopped or killed, and tries failed rows again. A change of rows that has already started
is not tried on all rows first.

Examples:
  $ keywright migrate resume
${exitCodesHelp}`);

export function resumeCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return migratingCommand("resume", terminal, exit, {
    nothingToDo: "Nothing to resume: the database matches the models.",
    alwaysAsks: false,
    checksAccepted: false,
    createsDatabase: false,
  })
    .description("continue a run that was stopped, and try failed rows again")
    .addHelpText("after", resumeHelp);
}

const rollbackHelp = helpText(`
A rollback is a migration to earlier models. First restore these in the code, for example with
\`git checkout <commit> -- src/models\`, and keep the migrations of rows in the configuration: each is
reverted by its function \`down\`, and one without \`down\` blocks the rollback. Then the command shows the
plan, asks, and runs it with its breaking steps accepted.

Changes of rows are first tried on all rows, as in \`keywright migrate run\`.

Without a terminal, use --accept-all, or --accept with all breaking steps. The plan says if
programs with the newer models can still write after the rollback.

Examples:
  $ git checkout v1.4.0 -- src/models
  $ keywright migrate rollback --dry-run
  $ keywright migrate rollback
${exitCodesHelp}`);

export function rollbackCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return migratingCommand("rollback", terminal, exit, {
    nothingToDo:
      "Nothing to roll back: the database matches the models in the code. First restore the earlier models (see --help).",
    alwaysAsks: true,
    checksAccepted: true,
    createsDatabase: false,
  })
    .description("migrate the database back to earlier models")
    .addHelpText("after", rollbackHelp);
}

function migratingCommand(
  name: string,
  terminal: Terminal,
  exit: (code: ExitCode) => void,
  kind: RunVariant,
): Command {
  const command = withMigrateOptions(new Command(name));
  const fail = (message: string) => command.error(`error: ${message}`);
  return command.action(async (options: MigrateCommandOptions) => {
    exit(await runMigration(terminal, options, kind, fail));
  });
}
