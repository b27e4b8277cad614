import type { KvEntry, KvLike } from "@keywright/core";
import { Command } from "commander";
import { keyJson, valueFields } from "../../inspect/entries/entry-line.js";
import { formatKey } from "../../inspect/entries/format-key.js";
import type { LineOutput } from "../../inspect/entries/line-output.js";
import { type EntryRange, listEntries } from "../../inspect/entries/list-entries.js";
import { parseKey } from "../../inspect/entries/parse-key.js";
import { showValueInLine } from "../../inspect/entries/show-value.js";
import { includesKeywrightKeys, listOthers } from "../../inspect/stats/own-keys.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { ReportedError } from "../terminal/report-error.js";
import { positiveInteger, type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { writeJsonList } from "../terminal/write-json.js";
import { keyHelp } from "./key-help.js";
import { runInspectCommand, withConfiguredKv } from "./run-inspect-command.js";

const help = helpText(`${keyHelp}

Examples:
  $ keywright inspect ls                                   list the first 100 keys
  $ keywright inspect ls > keys.txt                        list all keys
  $ keywright inspect ls '["users"]' --limit 10 --values   list the first 10 users
  $ keywright inspect ls '["users"]' --reverse --limit 1   list the last user
  $ keywright inspect ls '["orders"]' --start '["orders", 2024]' --end '["orders", 2025]'

Lists the entries below the prefix, without the entry of the prefix itself (see inspect get). They are
read in batches, so entries that are written at the same time may or may not be listed. A terminal gets at
most 100 lines unless --limit is set. With --json, the result is a list of objects with key,
versionstamp and expireAt.

Internal keys below ["__keywright"] are left out, unless the prefix, --start or --end begins with
"__keywright", or --all is set.

Exit codes: 0 done, 1 failed, 2 wrong usage.`);

const shortCount = 100;

interface LsOptions extends ResultOptions {
  readonly limit?: number;
  readonly values?: true;
  readonly reverse?: true;
  readonly start?: string;
  readonly end?: string;
  readonly all?: true;
}

export function lsCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("ls")
      .description("list keys, one per line")
      .argument("[prefix]", "a key: list only the keys that begin with its parts")
      .option("--limit <n>", "list at most this many keys", positiveInteger)
      .option("--values", "also show the values")
      .option("--reverse", "start with the last key")
      .option("--start <key>", "start at this key, inclusive")
      .option("--end <key>", "stop before this key")
      .option("--all", "also list the internal keys of Keywright"),
  )
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
  if (json) {
    const items = entryItems(entries, values);
    const failure = await writeJsonList((text) => output.writePart(text), items);
    if (failure === undefined) return;
    await output.flush();
    throw new ReportedError();
  }
  const most = isShort ? shortCount : Number.POSITIVE_INFINITY;
  const { count, hasMore } = await writeLines(output, entries, { values, most }, terminal);
  // The notes go to standard error and must appear below the lines.
  await output.flush();
  const note = (text: string) => writeText(terminal.stderr, styled(terminal.stderr, "dim", text));
  if (hasMore) {
    const which = reverse ? "last" : "first";
    note(`These are the ${which} ${shortCount} keys. To list more, use --limit.`);
  }
  if (count === 0) {
    const isAll = withOwn || range.prefix?.length;
    note(isAll ? "No keys." : "No keys, except internal ones. To list these, use --all.");
  }
}

function parseOptionalKey(key: string | undefined): ReturnType<typeof parseKey> | undefined {
  return key === undefined ? undefined : parseKey(key);
}

interface ShownEntries {
  readonly values?: true | undefined;
  readonly most: number;
}

async function writeLines(
  output: LineOutput,
  entries: AsyncIterable<KvEntry<unknown>>,
  { values, most }: ShownEntries,
  { stdout }: Terminal,
): Promise<{ readonly count: number; readonly hasMore: boolean }> {
  const colors = styled(stdout, "dim", "") !== "";
  let count = 0;
  for await (const { key, value } of entries) {
    if (count === most) return { count, hasMore: true };
    const text = formatKey(key);
    await output.write(values ? `${text}  ${showValueInLine(value, colors)}` : text);
    count++;
  }
  return { count, hasMore: false };
}

async function* entryItems(
  entries: AsyncIterable<KvEntry<unknown>>,
  values: true | undefined,
): AsyncGenerator<object> {
  for await (const { key, value, versionstamp, expireAt } of entries) {
    yield {
      key: keyJson(key),
      ...(values && valueFields(value)),
      versionstamp,
      ...(expireAt !== undefined && { expireAt }),
    };
  }
}
