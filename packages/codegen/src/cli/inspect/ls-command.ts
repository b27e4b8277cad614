import type { KvLike } from "@keywright/core";
import { Command, InvalidArgumentError } from "commander";
import type { LineOutput } from "../../inspect/entries/line-output.js";
import { type EntryRange, listEntries } from "../../inspect/entries/list-entries.js";
import { parseKey } from "../../inspect/entries/parse-key.js";
import { includesKeywrightKeys, listOthers } from "../../inspect/stats/own-keys.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { keyHelp } from "./key-help.js";
import { writeArray, writeLines } from "./ls-output.js";
import { runInspectCommand, withConfiguredKv } from "./run-inspect-command.js";

const help = `${keyHelp}

Examples:
  $ keywright inspect ls                                   the first hundred keys
  $ keywright inspect ls > keys.txt                        all keys
  $ keywright inspect ls '["users"]' --limit 10 --values   the first ten users
  $ keywright inspect ls '["users"]' --reverse --limit 1   the last one
  $ keywright inspect ls '["orders"]' --start '["orders", 2024]' --end '["orders", 2025]'

Lists the entries under the prefix, and not the one of just this key: see inspect get. They are read in batches; what is
written meanwhile may or may not be among them. To a terminal it is a hundred lines, unless --limit says how many.

What Keywright keeps for itself under ["__keywright"] is left out, unless the prefix, --start or --end begins with that,
or with --all.

Exit codes: 0 done, 1 failed, 2 wrong usage.`;

/** The number of keys that are shown on a terminal without `--limit`. */
const shortCount = 100;

interface LsOptions {
  readonly limit?: number;
  readonly values?: true;
  readonly reverse?: true;
  readonly start?: string;
  readonly end?: string;
  readonly all?: true;
  readonly json?: true;
  readonly config?: string;
}

/** Creates the command `keywright inspect ls`. */
export function lsCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("ls")
    .description("list the keys of the database, one per line")
    .argument("[prefix]", "a key: only those are listed that begin with its parts")
    .option("--limit <n>", "keys at the most", positiveInteger)
    .option("--values", "the values beside the keys")
    .option("--reverse", "from the last key to the first")
    .option("--start <key>", "the first key, inclusive")
    .option("--end <key>", "the last key, exclusive")
    .option("--all", "also the keys of Keywright's own")
    .option("--json", "print one JSON array, of objects with key, versionstamp and expireAt")
    .option("--config <path>", "the configuration file, instead of keywright.config.ts")
    .addHelpText("after", help)
    .action(async (prefix: string | undefined, options: LsOptions) => {
      await runInspectCommand(terminal, exit, async (output) => {
        const range = {
          prefix: parseOptionalKey(prefix),
          start: parseOptionalKey(options.start),
          end: parseOptionalKey(options.end),
        };
        await withConfiguredKv(
          terminal,
          options.config,
          async (kv) => await list(terminal, output, kv, range, options),
        );
        return exitCodes.done;
      });
    });
}

/**
 * @throws {InvalidArgumentError} if the text is not a positive whole number. Commander reports it.
 */
function positiveInteger(text: string): number {
  const number = /^[0-9]+$/.test(text) ? Number(text) : 0;
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("It is a positive whole number.");
}

async function list(
  terminal: Terminal,
  output: LineOutput,
  kv: KvLike,
  range: EntryRange,
  { limit, reverse, values, all, json }: LsOptions,
): Promise<void> {
  const withOwn = all === true || includesKeywrightKeys(range);
  const read = withOwn ? listEntries : listOthers;
  const isShort = terminal.stdout.isTTY && limit === undefined && !json;
  // Reads one more key to find out if there are more.
  const readLimit = isShort ? shortCount + 1 : limit;
  const entries = read(kv, range, { limit: readLimit, reverse, signal: output.ended });
  if (json) return await writeArray(output, entries, { values });
  const most = isShort ? shortCount : Number.POSITIVE_INFINITY;
  const { count, hasMore } = await writeLines(output, entries, { values, most }, terminal);
  // The notes go to standard error and must appear below the lines.
  await output.flush();
  const note = (text: string) => terminal.stderr.write(`${styled(terminal.stderr, "dim", text)}\n`);
  if (hasMore) {
    const which = reverse ? "last" : "first";
    note(`The ${which} ${shortCount} keys; there are more. Say how many with --limit.`);
  }
  if (count === 0) {
    const isAll = withOwn || range.prefix?.length;
    note(isAll ? "No keys." : "No keys. Those of Keywright's own are left out: see --all.");
  }
}

function parseOptionalKey(key: string | undefined): ReturnType<typeof parseKey> | undefined {
  return key === undefined ? undefined : parseKey(key);
}
