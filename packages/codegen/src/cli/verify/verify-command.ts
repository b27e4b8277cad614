import { verifyIndexes } from "@keywright/orm/migrate";
import { Command, Option } from "commander";
import { migrationProgress } from "../../progress/migration-progress.js";
import { type OpenProject, withProject } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type RunCommandOptions, withRunOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { unknownText } from "../terminal/text/unknown-text.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { withProgress } from "../terminal/with-progress.js";
import { writeJson } from "../terminal/write-json.js";
import { filesText, verifyFiles } from "./verify-files.js";
import { type VerifyReport, verifyReferences } from "./verify-references.js";
import { verifyText } from "./verify-text.js";

const help = helpText(`
Compares rows and index entries in both directions, while programs may write, and reports entries that
are
  missing      a row has no entry
  dangling     an entry leads to no row
  mismatched   an entry differs from its row
--repair corrects them. The command also reports rows that an index cannot contain, for example
because its function throws. Correct these rows yourself. Indexes that are not built yet are skipped.
Fields that relations copy are compared with the rows that they copy; --repair corrects these too.
Counts, sums and ranks are compared with the rows, and --repair counts them again, except those of
models whose rows expire.

Then it reads the rows of models with belongsTo relations again, and reports references to rows that
do not exist, because they expired or were deleted by a program without the model. --repair does not
change these: create the missing row, or change or delete the row with the reference. With --index,
references are not checked.

If the database is in a folder, the checksums of its files are checked first. With --files, nothing
else is checked, and all damage of the files is listed, with the keys that it may hide.

Examples:
  $ keywright verify
  $ keywright verify --model users posts --index byEmail
  $ keywright verify --repair
  $ keywright verify --no-references
  $ keywright verify --files

Exit codes: 0 clean or repaired; 1 damaged, stopped or failed; 2 wrong usage.`);

interface VerifyCommandOptions extends RunCommandOptions {
  readonly repair?: boolean;
  readonly model?: readonly string[];
  readonly index?: readonly string[];
  readonly references: boolean;
  readonly files?: boolean;
}

export function verifyCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withRunOptions(
    new Command("verify")
      .description("check that indexes match the rows, and that references lead to rows")
      .option("--repair", "correct wrong index entries")
      .option("--model <name...>", "check only these models")
      .option("--index <name...>", "check only indexes with these names, and no references")
      .option("--no-references", "do not check references")
      .addOption(
        new Option("--files", "check only the checksums of the database's files").conflicts([
          "repair",
          "model",
          "index",
        ]),
      ),
  )
    .addHelpText("after", help)
    .action(async (options: VerifyCommandOptions) => {
      if (options.files) {
        const report = await verifyFiles(terminal, options.config);
        if (options.json) writeJson(terminal, report);
        else writeText(terminal.stdout, filesText(terminal, report));
        exit(report.status === "clean" ? exitCodes.done : exitCodes.failed);
        return;
      }
      const result = await withProject(terminal.folder, options.config, async (project) => {
        const unknown = unknownName(project, options);
        if (unknown !== undefined) command.error(`error: ${unknown}`);
        return await verify(terminal, project, options);
      });
      if (options.json) writeJson(terminal, result);
      else {
        const text = verifyText(terminal, result, options.repair === true);
        writeText(terminal.stdout, text);
      }
      const isGood = result.status === "clean" || result.status === "repaired";
      exit(isGood ? exitCodes.done : exitCodes.failed);
    });
  return command;
}

function unknownName(
  { models }: OpenProject,
  { model = [], index = [] }: VerifyCommandOptions,
): string | undefined {
  const names = models.map((one) => one.model.name);
  const unknownModel = model.find((name) => !names.includes(name));
  if (unknownModel !== undefined) {
    return unknownText("model", unknownModel, names);
  }
  const chosen = models.filter((one) => model.length === 0 || model.includes(one.model.name));
  const indexes = [...new Set(chosen.flatMap((one) => one.model.indexes.map(({ name }) => name)))];
  const unknownIndex = index.find((name) => !indexes.includes(name));
  if (unknownIndex === undefined) return undefined;
  return unknownText("index", unknownIndex, indexes);
}

async function verify(
  terminal: Terminal,
  { database, models }: OpenProject,
  { repair = false, model, index, references, wait, rowsPerSecond }: VerifyCommandOptions,
): Promise<VerifyReport> {
  const progress = migrationProgress({ stream: terminal.stderr });
  return await withProgress(terminal, progress, async (shown) => {
    const result = await verifyIndexes(database, {
      repair,
      wait,
      rowsPerSecond,
      ...shown,
      ...(model !== undefined && { models: model }),
      ...(index !== undefined && { indexes: index }),
    });
    if (!references || index !== undefined) return result;
    const compiled = models.map((one) => one.model);
    return await verifyReferences(database, compiled, result, { rowsPerSecond, ...shown });
  });
}
