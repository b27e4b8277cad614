import { type Command, InvalidArgumentError, Option } from "commander";

export interface ResultOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** The options of commands that go through the rows of a database. */
export interface RunCommandOptions extends ResultOptions {
  readonly rowsPerSecond?: number;
  readonly wait: boolean;
}

export function withResultOptions(command: Command): Command {
  return command
    .option("--config <path>", "use this file instead of keywright.config.ts")
    .addOption(jsonOption());
}

/** The option that every command has. */
export function jsonOption(): Option {
  return new Option("--json", "print the result or the error as JSON");
}

/** Adds the options of {@link RunCommandOptions}. */
export function withRunOptions(command: Command): Command {
  return withResultOptions(command)
    .option(
      "--rows-per-second <n>",
      "read at most this many rows per second, to spare other programs",
      positiveNumber,
    )
    .option("--no-wait", "fail at once if another run is active, instead of waiting for its end");
}

/** Parses the value of an option. Commander reports the error with the name of the option. */
function positiveNumber(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("It must be a positive number.");
}

/** Parses the value of an option. Commander reports the error with the name of the option. */
export function positiveInteger(text: string): number {
  const value = /^[0-9]+$/.test(text) ? Number(text) : 0;
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("It must be a positive whole number.");
}

/**
 * Parses the value of a `--port` option. Commander reports the error with the name of the option.
 */
export function port(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value < 65_536) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
