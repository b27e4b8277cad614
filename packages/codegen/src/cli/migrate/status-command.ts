import { type AnyDatabase, migrationStatus } from "@keywright/orm";
import { planMigration } from "@keywright/orm/migrate";
import { Command } from "commander";
import { type OpenProject, withReadProject } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { unknownText } from "../terminal/text/unknown-text.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { writeDuplicates, writeFailedRows } from "./row-lists.js";
import { statusText } from "./status-text.js";

const help = helpText(`
Examples:
  $ keywright migrate status
  $ keywright migrate status --duplicates users.byEmail   values that keep a unique index unreadable
  $ keywright migrate status --failed users               rows that a migration could not change

Exit codes: 0 done, 1 failed, 2 wrong usage.`);

interface StatusOptions extends ResultOptions {
  /** A unique index, as `model.index`. */
  readonly duplicates?: string;
  readonly failed?: string;
}

export function statusCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withResultOptions(new Command("status"))
    .description("show the active run and the state of each index, counter and change of rows")
    .option(
      "--duplicates <model.index>",
      "list the values of a unique index that several rows share",
    )
    .option("--failed <model>", "list the rows that a migration could not change, with the reasons")
    .addHelpText("after", help)
    .action(async (options: StatusOptions) => {
      if (options.duplicates !== undefined && options.failed !== undefined) {
        command.error(
          "error: --duplicates and --failed cannot be used together: choose one of them",
        );
      }
      await withReadProject(terminal.folder, options.config, (project) =>
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
    const declared = models.flatMap(({ model }) =>
      model.indexes
        .filter(({ unique }) => unique)
        .map(({ name }) => ({ model: model.name, index: name })),
    );
    const indexes = [...declared, ...(await undeclaredWithDuplicates(database))];
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
  else writeText(terminal.stdout, statusText(terminal, status, plan));
}

/** Returns the indexes that are built for a new primary key and whose rows share values. */
async function undeclaredWithDuplicates(
  database: AnyDatabase,
): Promise<{ readonly model: string; readonly index: string }[]> {
  const { models } = await migrationStatus(database);
  return models.flatMap(({ model, indexes }) =>
    Object.entries(indexes).flatMap(([index, { declared, duplicates }]) =>
      declared || duplicates === 0 ? [] : [{ model, index }],
    ),
  );
}
