import { migrationStatus, planMigration } from "@keywright/orm";
import { Command } from "commander";
import { type OpenProject, withProject } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { writeJson } from "../terminal/write-json.js";
import { writeDuplicates, writeFailedRows } from "./row-lists.js";
import { statusText } from "./status-text.js";

const help = `
Examples:
  $ keywright migrate status
  $ keywright migrate status --duplicates users.byEmail   rows that keep a unique index from being readable
  $ keywright migrate status --failed users               rows that a migration could not change

Exit codes: 0 done, 1 failed, 2 wrong usage.`;

interface StatusOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** A unique index, as `model.index`. */
  readonly duplicates?: string;
  /** The name of a model. */
  readonly failed?: string;
}

/** Creates the command `keywright migrate status`. */
export function statusCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withResultOptions(new Command("status"))
    .description("show who is at work, and how far each index, counter and change of rows has come")
    .option(
      "--duplicates <model.index>",
      "list the values of a unique index that several rows have",
    )
    .option("--failed <model>", "list the rows that could not be changed, and why")
    .addHelpText("after", help)
    .action(async (options: StatusOptions) => {
      if (options.duplicates !== undefined && options.failed !== undefined) {
        command.error("error: --duplicates and --failed are two lists: ask for one of them");
      }
      await withProject(terminal.folder, options.config, (project) =>
        writeStatus(terminal, project, options, (message) => command.error(`error: ${message}`)),
      );
      exit(exitCodes.done);
    });
  return command;
}

async function writeStatus(
  terminal: Terminal,
  { database, models }: OpenProject,
  { json = false, duplicates, failed }: StatusOptions,
  fail: (message: string) => never,
): Promise<void> {
  if (duplicates !== undefined) {
    const indexes = models.flatMap(({ model }) =>
      model.indexes
        .filter(({ unique }) => unique)
        .map(({ name }) => ({ model: model.name, index: name })),
    );
    const nameOf = ({ model, index }: (typeof indexes)[number]) => `${model}.${index}`;
    const selected = indexes.find((one) => nameOf(one) === duplicates);
    if (selected === undefined)
      return fail(unknownText("unique index", duplicates, indexes.map(nameOf)));
    return await writeDuplicates(terminal, database, selected, json);
  }
  if (failed !== undefined) {
    const names = models.map(({ model }) => model.name);
    if (!names.includes(failed)) return fail(unknownText("model", failed, names));
    return await writeFailedRows(terminal, database, failed, json);
  }
  const status = await migrationStatus(database);
  const plan = await planMigration(database);
  if (json) writeJson(terminal, { ...status, plan });
  else terminal.stdout.write(`${statusText(terminal, status, plan)}\n`);
}

function unknownText(what: string, name: string, known: readonly string[]): string {
  const list = known.length === 0 ? "there is none" : `there are ${known.join(", ")}`;
  return `there is no ${what} ${name}: ${list}`;
}
