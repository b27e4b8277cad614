import { dirname, join, resolve } from "node:path";
import { type ChangedRows, findChangedRows } from "@keywright/orm/migrate";
import { Command } from "commander";
import { importExtensionIn } from "../../generate/import-extension.js";
import {
  changesPrimaryKey,
  type MigrationInput,
  type MigrationModule,
  migrationSource,
} from "../../migration-source/migration-source.js";
import { writeNewFile } from "../../migration-source/write-new-file.js";
import { type OpenProject, withProject } from "../../project/open-project.js";
import { kebabCase } from "../../types/identifiers.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { shownPath, type Terminal } from "../terminal/terminal.js";
import { unknownText } from "../terminal/text/unknown-text.js";
import { commandLine, helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";

const help = helpText(`
Compares the rows of the database with the models, as migrate plan does, and writes a module with both
schemas and as much of the migration as they determine. For example, a field that was only renamed is
moved. Values that they do not determine are written as TODO, which does not compile until you replace
it. No row is changed, and an existing file is not replaced.

If the rows of several models have changed, --model selects one of them.

Examples:
  $ keywright migrate new "full names"   write src/migrations/full-names.ts if output is src/db
  $ keywright migrate new "full names" --model users
  $ keywright migrate new "full names" --out src/migrations/full-names.ts

Exit codes: 0 written; 1 failed, or there is nothing to write; 2 wrong usage, such as several changed
models without --model.`);

interface NewOptions extends ResultOptions {
  readonly model?: string;
  readonly out?: string;
}

export function newCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withResultOptions(new Command("new"))
    .description("write a migration file for a model whose rows have changed")
    .argument("<name>", "the name of the migration in plans, reports and the file name")
    .option("--model <name>", "the model, if the rows of several models have changed")
    .option(
      "--out <file>",
      "the file; the default is migrations/<name>.ts next to the output folder",
    )
    .addHelpText("after", help)
    .action(async (name: string, options: NewOptions) => {
      const fail = (message: string) => command.error(`error: ${message}`);
      if (kebabCase(name) === "") fail("the name must contain a letter or a digit");
      exit(
        await withProject(terminal.folder, options.config, (project) =>
          writeMigration(terminal, project, name, options, fail),
        ),
      );
    });
  return command;
}

async function writeMigration(
  terminal: Terminal,
  project: OpenProject,
  name: string,
  { model: modelName, out, json }: NewOptions,
  fail: (message: string) => never,
): Promise<ExitCode> {
  const { config } = project;
  const chosen = await chooseModel(project, modelName, fail);
  const reason = chosen === undefined ? missingText(modelName) : keyText(chosen.rows);
  if (chosen === undefined || reason !== undefined) {
    if (json) writeJson(terminal, { path: null, reason });
    else writeText(terminal.stdout, `Nothing was written. ${reason}`);
    return exitCodes.failed;
  }
  const defaultPath = join(dirname(config.output), "migrations", `${kebabCase(name)}.ts`);
  const path = out === undefined ? defaultPath : resolve(terminal.folder, out);
  const folder = dirname(path);
  const { modulePath } = chosen.model;
  const extension = config.importExtension ?? (await importExtensionIn(folder, modulePath));
  const { text, ...made } = await migrationSource({ name, ...chosen, folder, extension });
  await writeNewFile(path, text);
  if (json) writeJson(terminal, { path, model: chosen.rows.model, ...made });
  else writeText(terminal.stdout, newMigrationText(terminal, path, config.path, made));
  return exitCodes.done;
}

/** Returns undefined if no model, or not the named one, has changed rows. */
async function chooseModel(
  { models, database }: OpenProject,
  modelName: string | undefined,
  fail: (message: string) => never,
): Promise<Pick<MigrationInput, "model" | "rows"> | undefined> {
  const known = models.map(({ model }) => model.name);
  if (modelName !== undefined && !known.includes(modelName)) {
    fail(unknownText("model", modelName, known));
  }
  const changed = await findChangedRows(database);
  const candidates = changed.filter((one) => modelName === undefined || one.model === modelName);
  if (candidates.length > 1) {
    const names = candidates.map((one) => one.model).join(", ");
    fail(`the rows of several models have changed: choose one of ${names} with --model`);
  }
  const [rows] = candidates;
  const model = models.find((one) => one.model.name === rows?.model);
  return rows && model && { model, rows };
}

function missingText(model: string | undefined): string {
  const models = model === undefined ? "No model needs" : `${model} does not need`;
  return `${models} a migration of rows. To see what there is to do:\n${commandLine("migrate plan")}`;
}

function keyText(rows: ChangedRows): string | undefined {
  if (!changesPrimaryKey(rows)) return undefined;
  return rows.from.primaryKey.join("\n") === rows.to.primaryKey.join("\n")
    ? `The primary key of ${rows.model} has changed, and a migration cannot change its values. Add a field for the new values, and then make it the primary key.`
    : `The primary key of ${rows.model} has changed, which needs no migration of rows. To see what to do: npx keywright migrate plan`;
}

function newMigrationText(
  terminal: Terminal,
  path: string,
  configPath: string,
  { exportName, toWrite }: Omit<MigrationModule, "text">,
): string {
  const todo = (["up", "down"] as const).flatMap((at) => placeLine(at, toWrite[at]));
  const inexact = (["from", "to"] as const).flatMap((at) => placeLine(at, toWrite[at]));
  const steps = [
    ...(todo.length > 0 ? [["Replace TODO by the values of these fields:", ...todo]] : []),
    ...(inexact.length > 0
      ? [["Correct these fields of the schemas, as the comments say:", ...inexact]]
      : []),
    [
      `Add ${exportName} to \`migrations\` in ${shownPath(terminal, configPath)},`,
      "and in createDatabase or openRepositories of the program.",
    ],
    ["npx keywright migrate plan"],
    ["npx keywright migrate run --dry-run"],
  ];
  const lines = steps.flatMap(([first = "", ...rest], i) => [
    `  ${i + 1}. ${first}`,
    ...rest.map((line) => `     ${line}`),
  ]);
  return [`${shownPath(terminal, path)} was written. Next:`, ...lines].join("\n");
}

function placeLine(at: string, fields: readonly string[]): string[] {
  return fields.length === 0
    ? []
    : [`${at}: ${fields.map((name) => JSON.stringify(name)).join(", ")}`];
}
