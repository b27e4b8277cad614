import { InvalidArgumentError } from "commander";

/** Parses the value of a `--port` option. */
export function port(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value < 65_536) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
