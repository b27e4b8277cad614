import { dirname, join, resolve } from "node:path";
import { type ChangedRows, findChangedRows } from "@keywright/orm";
import { Command } from "commander";
import { importExtensionIn } from "../../generate/import-extension.js";
import {
  changesPrimaryKey,
  type MigrationInput,
  migrationSource,
} from "../../migration-source/migration-source.js";
import { writeNewFile } from "../../migration-source/write-new-file.js";
import { type OpenProject, withProject } from "../../project/open-project.js";
import { kebabCase } from "../../types/identifiers.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { writeJson } from "../terminal/write-json.js";
import { newMigrationText } from "./new-migration-text.js";

const help = `
Compares the rows of the database with those of the models, as migrate plan
does, and writes a module with both schemas, and with what they tell of the way:
a field that has another name only is moved. What they do not tell is TODO
there, and does not compile until you have written it. No row is changed, and a
file that is there already stays as it is.

Where several models' rows have changed, --model says which one is meant.

Examples:
  $ keywright migrate new "full names"                  write migrations/full-names.ts
  $ keywright migrate new "full names" --model users
  $ keywright migrate new "full names" --out src/migrations/full-names.ts

Exit codes: 0 it is written; 1 failed, or there is nothing to write; 2 wrong
usage, such as several models and no --model.`;

interface NewOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly model?: string;
  readonly out?: string;
}

/** Creates the command `keywright migrate new`. */
export function newCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withResultOptions(new Command("new"))
    .description("write the file of a migration, for a model whose rows have changed")
    .argument("<name>", "what plans and reports call it; the file gets its name from it")
    .option("--model <name>", "the model, where several have changed")
    .option("--out <file>", "the file, instead of migrations/<name>.ts beside the configuration")
    .addHelpText("after", help)
    .action(async (name: string, options: NewOptions) => {
      const fail = (message: string) => command.error(`error: ${message}`);
      if (kebabCase(name) === "") fail("the name needs a letter or a digit");
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
    else terminal.stdout.write(`Nothing was written. ${reason}\n`);
    return exitCodes.failed;
  }
  const defaultPath = join(config.folder, "migrations", `${kebabCase(name)}.ts`);
  const path = out === undefined ? defaultPath : resolve(terminal.folder, out);
  const folder = dirname(path);
  const { modulePath } = chosen.model;
  const extension = config.importExtension ?? (await importExtensionIn(folder, modulePath));
  const { text, ...made } = await migrationSource({ name, ...chosen, folder, extension });
  await writeNewFile(path, text);
  if (json) writeJson(terminal, { path, model: chosen.rows.model, ...made });
  else terminal.stdout.write(`${newMigrationText(terminal, path, config.path, made)}\n`);
  return exitCodes.done;
}

/**
 * Returns the model for the migration. Undefined if no model, or not the named one, has changed
 * rows.
 */
async function chooseModel(
  { models, database }: OpenProject,
  modelName: string | undefined,
  fail: (message: string) => never,
): Promise<Pick<MigrationInput, "model" | "rows"> | undefined> {
  const known = models.map(({ model }) => model.name);
  if (modelName !== undefined && !known.includes(modelName)) {
    fail(`there is no model ${modelName}: there are ${known.join(", ")}`);
  }
  const changed = await findChangedRows(database);
  const candidates = changed.filter((one) => modelName === undefined || one.model === modelName);
  if (candidates.length > 1) {
    const names = candidates.map((one) => one.model).join(", ");
    fail(`the rows of several models have changed, so name one with --model: ${names}`);
  }
  const [rows] = candidates;
  const model = models.find((one) => one.model.name === rows?.model);
  return rows && model && { model, rows };
}

function missingText(model: string | undefined): string {
  const whose = model === undefined ? "any model" : model;
  return `No migration of the rows of ${whose} is missing: npx keywright migrate plan says what there is to do.`;
}

function keyText(rows: ChangedRows): string | undefined {
  if (!changesPrimaryKey(rows)) return undefined;
  return `The primary key of ${rows.model} has changed, and cannot be migrated: define a new model, and copy the rows.`;
}
