import { type Command, InvalidArgumentError } from "commander";

/** The options of all commands that go through the rows of a database. */
export interface RunCommandOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly rowsPerSecond?: number;
  /** False with `--no-wait`. */
  readonly wait: boolean;
}

/** Adds `--config`. */
function withConfigOption(command: Command): Command {
  return command.option(
    "--config <path>",
    "the configuration file, instead of keywright.config.ts",
  );
}

/** Adds `--config` and `--json`. */
export function withResultOptions(command: Command): Command {
  return withConfigOption(command).option("--json", "print the result as one JSON document");
}

/** Adds the options of {@link RunCommandOptions}. */
export function withRunOptions(command: Command): Command {
  return withResultOptions(command)
    .option("--rows-per-second <n>", "read no more rows in a second, to spare others", positive)
    .option("--no-wait", "fail where another run is at work, instead of waiting for its end");
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("It has to be a positive number.");
}
