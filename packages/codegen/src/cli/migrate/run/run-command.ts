import { Command } from "commander";
import type { ExitCode } from "../../terminal/exit-codes.js";
import type { Terminal } from "../../terminal/terminal.js";
import { type MigrateCommandOptions, withMigrateOptions } from "../migrate-options.js";
import { type MigrationKind, runMigration } from "./run-migration.js";

const exitCodesHelp = `
Exit codes: 0 done, or nothing to do; 1 failed, stopped, or not complete as by
duplicates, or rows would fail; 2 wrong usage; 3 nothing was done, for steps are
breaking and not accepted, or blocked until a migration is written.`;

const runHelp = `
On Deno KV programs read and write meanwhile. An embedded database belongs to
one process: stop the program that has it open, or let it migrate by itself with
\`migrate(db)\`, beside its own readers and writers.

A run can be stopped by Ctrl-C, which ends it behind the batch in hand, and
killed anywhere: the next one goes on where it was.

Breaking steps are asked for in a terminal. Elsewhere they have to be accepted,
or nothing is done.

Before it begins a change of rows it tries that on all of them, which is one
more scan of the changed models' rows. Where some would fail, it lists the first
and does nothing: once begun, each query that meets one of them is refused, and
there is no way back until all are changed. --accept-failures begins all the
same.

Examples:
  $ keywright migrate run --dry-run             the plan, and what becomes of the rows
  $ keywright migrate run
  $ keywright migrate run --accept "users.byName: drop-index"
  $ keywright migrate run --rows-per-second 5000 --json
${exitCodesHelp}`;

/** Creates the command `keywright migrate run`. */
export function runCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return migratingCommand("run", terminal, exit, {
    nothingToDo: "Nothing to migrate.",
    alwaysAsks: false,
    checksAccepted: true,
    createsDatabase: true,
  })
    .description("bring the database to the models, by the steps of the plan")
    .addHelpText("after", runHelp);
}

const resumeHelp = `
Does what \`keywright migrate run\` does, with the same options: goes on behind
the last batch of a run that was stopped or killed, and tries rows again that
could not be changed. A change of rows that is under way is not tried first.

Examples:
  $ keywright migrate resume
${exitCodesHelp}`;

/** Creates the command `keywright migrate resume`. */
export function resumeCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return migratingCommand("resume", terminal, exit, {
    nothingToDo: "Nothing to resume.",
    alwaysAsks: false,
    checksAccepted: false,
    createsDatabase: false,
  })
    .description("go on with what a run has left")
    .addHelpText("after", resumeHelp);
}

const rollbackHelp = `
A database goes back to models as it came from them: by a plan. So put the
models back first, as by \`git checkout <commit> -- src/models\`, and keep the
migrations of rows: each goes back by its \`down\`, and one without it blocks
the way. Then this shows the plan, asks, and runs it with its breaking steps
accepted.

A change of rows is first tried on all rows, as by \`keywright migrate run\`.

Without a terminal it needs --accept-all, or, where steps are breaking, --accept
with all of these. Programs with the newer models cannot write from then on.

Examples:
  $ git checkout v1.4.0 -- src/models
  $ keywright migrate rollback --dry-run
  $ keywright migrate rollback
${exitCodesHelp}`;

/** Creates the command `keywright migrate rollback`. */
export function rollbackCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return migratingCommand("rollback", terminal, exit, {
    nothingToDo:
      "Nothing to roll back: the models in the code are what the database has. Put the earlier models back first; see --help.",
    alwaysAsks: true,
    checksAccepted: true,
    createsDatabase: false,
  })
    .description("bring the database back to earlier models, which are in the code again")
    .addHelpText("after", rollbackHelp);
}

function migratingCommand(
  name: string,
  terminal: Terminal,
  exit: (code: ExitCode) => void,
  kind: MigrationKind,
): Command {
  const command = withMigrateOptions(new Command(name));
  const fail = (message: string) => command.error(`error: ${message}`);
  return command.action(async (options: MigrateCommandOptions) => {
    exit(await runMigration(terminal, options, kind, fail));
  });
}
