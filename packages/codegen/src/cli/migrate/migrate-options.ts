import { type Command, Option } from "commander";
import { type RunCommandOptions, withRunOptions } from "../terminal/run-options.js";

/** The options of `migrate run`, `resume` and `rollback`. */
export interface MigrateCommandOptions extends RunCommandOptions {
  readonly dryRun?: boolean;
  /** The ids of breaking steps. */
  readonly accept?: readonly string[];
  readonly acceptAll?: boolean;
  readonly acceptFailures?: boolean;
  /** False with `--no-verify`. */
  readonly verify: boolean;
}

/** Adds the options of {@link MigrateCommandOptions}. */
export function withMigrateOptions(command: Command): Command {
  return withRunOptions(
    command
      .option("--dry-run", "show the plan, try all rows that it changes, and do nothing")
      .addOption(new Option("--accept <step-id...>", "accept breaking steps, by their ids"))
      .option("--accept-all", "accept all breaking steps")
      .option(
        "--accept-failures",
        "begin changes of rows without trying them first, though rows may fail",
      )
      .option("--no-verify", "make new indexes readable without looking at their entries again"),
  );
}
