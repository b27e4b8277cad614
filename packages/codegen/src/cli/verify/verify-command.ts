import { verifyIndexes } from "@keywright/orm";
import { Command } from "commander";
import { migrationProgress } from "../../progress/migration-progress.js";
import { type OpenProject, withProject } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { type RunCommandOptions, withRunOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { withProgress } from "../terminal/with-progress.js";
import { writeJson } from "../terminal/write-json.js";
import { type VerifyReport, verifyReferences } from "./verify-references.js";
import { verifyText } from "./verify-text.js";

const help = `
Reads rows and index entries both ways, beside programs that write, and says
which entries are
  missing      a row has none where it should
  dangling     no row has it
  mismatched   it holds something else than it should
With --repair it puts them right. It also says which rows an index cannot hold,
as where its function throws for them; these need a change by hand. Indexes that
are not built yet are left out; counters are not looked at, and are built anew
where entries of their model are repaired.

Then it reads the rows of models with belongsTo relations once more, and says
which refer to a row that is not there: one that was deleted by a program
without the model, or that expired. --repair leaves these as they are: create
the row, or change or delete the one that refers to it. With --index,
references are not looked at.

Examples:
  $ keywright verify
  $ keywright verify --model users posts --index byEmail
  $ keywright verify --repair
  $ keywright verify --no-references

Exit codes: 0 clean or repaired; 1 damaged, stopped or failed; 2 wrong usage.`;

interface VerifyCommandOptions extends RunCommandOptions {
  readonly repair?: boolean;
  readonly model?: readonly string[];
  readonly index?: readonly string[];
  /** False with `--no-references`. */
  readonly references: boolean;
}

/** Creates the command `keywright verify`. */
export function verifyCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withRunOptions(
    new Command("verify")
      .description("look whether the indexes hold what the rows say, and references lead to rows")
      .option("--repair", "put right what is wrong")
      .option("--model <name...>", "only these models")
      .option("--index <name...>", "only indexes of these names, and no references")
      .option("--no-references", "do not look whether references lead to rows"),
  )
    .addHelpText("after", help)
    .action(async (options: VerifyCommandOptions) => {
      const result = await withProject(terminal.folder, options.config, async (project) => {
        const unknown = unknownName(project, options);
        if (unknown !== undefined) command.error(`error: ${unknown}`);
        return await verify(terminal, project, options);
      });
      if (options.json) writeJson(terminal, result);
      else terminal.stdout.write(`${verifyText(terminal, result, options.repair === true)}\n`);
      const isGood = result.status === "clean" || result.status === "repaired";
      exit(isGood ? exitCodes.done : exitCodes.failed);
    });
  return command;
}

/** Returns the message for a model or index that does not exist. Undefined if all exist. */
function unknownName(
  { models }: OpenProject,
  { model = [], index = [] }: VerifyCommandOptions,
): string | undefined {
  const names = models.map((one) => one.model.name);
  const unknownModel = model.find((name) => !names.includes(name));
  if (unknownModel !== undefined) {
    return `there is no model ${unknownModel}: there are ${names.join(", ")}`;
  }
  const chosen = models.filter((one) => model.length === 0 || model.includes(one.model.name));
  const indexes = [...new Set(chosen.flatMap((one) => one.model.indexes.map(({ name }) => name)))];
  const unknownIndex = index.find((name) => !indexes.includes(name));
  if (unknownIndex === undefined) return undefined;
  const known = indexes.length === 0 ? "there is none" : `there are ${indexes.join(", ")}`;
  return `none of the models has an index ${unknownIndex}: ${known}`;
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
