import { type Command, Option } from "commander";
import { type RunCommandOptions, withRunOptions } from "../terminal/run-options.js";

export interface MigrateCommandOptions extends RunCommandOptions {
  readonly dryRun?: boolean;
  /** The ids of breaking steps. */
  readonly accept?: readonly string[];
  readonly acceptAll?: boolean;
  /** The names of models to remove from the database. */
  readonly dropModel?: readonly string[];
  /** The names of models from whose rows the values of removed fields are removed. */
  readonly removeValues?: readonly string[];
  readonly acceptFailures?: boolean;
  /** True for all indexes that differ only in their functions, or the indexes, as `model.index`. */
  readonly sameFunctions?: true | readonly string[];
  readonly verify: boolean;
}

export function withMigrateOptions(command: Command): Command {
  return withRunOptions(
    command
      .option("--dry-run", "show the plan and try all changes of rows, without writing")
      .addOption(new Option("--accept <step-id...>", "accept these breaking steps"))
      .option("--accept-all", "accept all breaking steps")
      .addOption(dropModelOption())
      .addOption(
        new Option(
          "--same-functions [index...]",
          "keep the entries of indexes, such as users.byEmail, whose functions return the same in another form",
        ),
      )
      .addOption(removeValuesOption())
      .option(
        "--accept-failures",
        "change rows without trying all of them first, although some may fail",
      )
      .option("--no-verify", "make new indexes readable without verifying their entries"),
  );
}

export function removeValuesOption(): Option {
  return new Option(
    "--remove-values <model...>",
    "remove the values of fields that these models no longer have from their rows",
  );
}

export function dropModelOption(): Option {
  return new Option(
    "--drop-model <name...>",
    "remove these models with all of their rows, if the project no longer has them",
  );
}
