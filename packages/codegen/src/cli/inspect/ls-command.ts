import type { KvEntry } from "@keywright/core";
import { Command, InvalidArgumentError } from "commander";
import { keyJson, valueFields } from "../../inspect/entry-line.js";
import { formatKey } from "../../inspect/format-key.js";
import { listEntries } from "../../inspect/list-entries.js";
import { parseKey } from "../../inspect/parse-key.js";
import { showValueInLine } from "../../inspect/show-value.js";
import { type ExitCode, exitCodes } from "../exit-codes.js";
import { styled, type Terminal } from "../terminal.js";
import { inspectingDatabase } from "./inspecting.js";
import { keyHelp } from "./key-help.js";
import type { LineOutput } from "./line-output.js";

const help = `${keyHelp}

Examples:
  $ keywright inspect ls                                   all keys
  $ keywright inspect ls '["users"]' --limit 10 --values   the first ten users
  $ keywright inspect ls '["users"]' --reverse --limit 1   the last one
  $ keywright inspect ls '["orders"]' --start '["orders", 2024]' --end '["orders", 2025]'

Lists the entries under the prefix, and not the one of just this key: see inspect get. They are read in batches; what is
written meanwhile may or may not be among them.

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.`;

interface LsOptions {
  readonly limit?: number;
  readonly values?: true;
  readonly reverse?: true;
  readonly start?: string;
  readonly end?: string;
  readonly json?: true;
  readonly config?: string;
}

/** `keywright inspect ls`. */
export function lsCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("ls")
    .description("list the keys of the database, one per line")
    .argument("[prefix]", "a key: only those are listed that begin with its parts")
    .option("--limit <n>", "keys at the most", positiveInteger)
    .option("--values", "the values beside the keys")
    .option("--reverse", "from the last key to the first")
    .option("--start <key>", "the first key, inclusive")
    .option("--end <key>", "the last key, exclusive")
    .option("--json", "print one JSON array, of objects with key, versionstamp and expireAt")
    .option("--config <path>", "the configuration file, instead of keywright.config.ts")
    .addHelpText("after", help)
    .action(async (prefix: string | undefined, options: LsOptions) => {
      await inspectingDatabase(terminal, exit, options.config, async (kv, { output, signal }) => {
        const range = {
          prefix: parsed(prefix),
          start: parsed(options.start),
          end: parsed(options.end),
        };
        const { limit, reverse } = options;
        const entries = listEntries(kv, range, { limit, reverse, signal });
        const write = options.json ? writeArray : writeLines;
        const count = await write(output, entries, options, terminal);
        if (signal.aborted) return exitCodes.failed;
        if (count === 0 && !options.json) {
          terminal.stderr.write(`${styled(terminal.stderr, "dim", "No keys.")}\n`);
        }
        return exitCodes.done;
      });
    });
}

/** @throws {InvalidArgumentError} for the command line. */
function positiveInteger(text: string): number {
  const number = /^[0-9]+$/.test(text) ? Number(text) : 0;
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("It is a positive whole number.");
}

function parsed(key: string | undefined): ReturnType<typeof parseKey> | undefined {
  return key === undefined ? undefined : parseKey(key);
}

async function writeLines(
  output: LineOutput,
  entries: AsyncIterable<KvEntry<unknown>>,
  { values }: LsOptions,
  { stdout }: Terminal,
): Promise<number> {
  const colors = styled(stdout, "dim", "") !== "";
  let count = 0;
  for await (const { key, value } of entries) {
    const text = formatKey(key);
    await output.write(values ? `${text}  ${showValueInLine(value, colors)}` : text);
    count++;
  }
  return count;
}

/** Entry by entry, for they may be more than memory holds. */
async function writeArray(
  output: LineOutput,
  entries: AsyncIterable<KvEntry<unknown>>,
  { values }: LsOptions,
): Promise<number> {
  let before = "[";
  let count = 0;
  for await (const { key, value, versionstamp, expireAt } of entries) {
    const entry = {
      key: keyJson(key),
      ...(values && valueFields(value)),
      versionstamp,
      ...(expireAt !== undefined && { expireAt }),
    };
    await output.write(`${before}\n  ${JSON.stringify(entry)}`);
    before = ",";
    count++;
  }
  await output.write(count === 0 ? "[]" : "]");
  return count;
}
