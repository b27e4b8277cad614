import type { KvChange, KvLoggedValue } from "@keywright/core";
import { Command } from "commander";
import { keyJson, valueFields } from "../../inspect/entries/entry-line.js";
import { escapeJson } from "../../inspect/entries/escape-controls.js";
import { parseKey } from "../../inspect/entries/parse-key.js";
import { keyHelp } from "../inspect/key-help.js";
import { runInspectCommand, withConfiguredKv } from "../inspect/run-inspect-command.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { interruptible } from "../terminal/process/interruptible.js";
import { withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { loggedDatabase } from "./logged-database.js";

const help = helpText(`
Prints a line of JSON for each commit of the log, the oldest first. The database must keep a log: \`keywright log
on\`.
  {"versionstamp":"00000000000000070000","time":"2026-07-01T12:00:00.000Z","changes":[
    {"type":"set","key":["users","ada"],"before":null,"after":{"value":{"name":"Ada"}}}]}
Values are written as by \`keywright inspect export\`. To continue later, pass the versionstamp of the last
line to --after.
With --consumers, prints a line for each named consumer of the log: how far it has come, how many commits are left
(at most 1,000 are counted), whether the log no longer has all of them, and the process that has it.
${keyHelp}

Examples:
  $ keywright changes --prefix '["users"]'
  $ keywright changes --follow --after 00000000000000070000
  $ keywright changes --remove-consumer search-index

Exit codes: 0 done or stopped, 1 failed, 2 wrong usage.`);

interface ChangesOptions {
  readonly config?: string;
  readonly follow?: boolean;
  readonly after?: string;
  readonly prefix?: string;
  readonly consumers?: boolean;
  readonly removeConsumer?: string;
}

export function changesCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("changes")
      .description("print what commits have changed, as JSON lines")
      .option("--follow", "wait for further commits until Ctrl-C")
      .option("--after <versionstamp>", "begin after this commit")
      .option("--prefix <key>", "only changes of keys below this one")
      .option("--consumers", "print the named consumers of the log instead")
      .option(
        "--remove-consumer <name>",
        "forget the position of a consumer, so that it begins again",
      ),
  )
    .addHelpText("after", help)
    .action(async (given: ChangesOptions) => {
      const { config, follow = false, after, prefix, consumers, removeConsumer } = given;
      await runInspectCommand(terminal, exit, async (stdout) => {
        if (removeConsumer !== undefined) {
          const isRemoved = await withConfiguredKv(terminal, config, (kv) =>
            loggedDatabase(kv).removeConsumer(removeConsumer),
          );
          if (terminal.isJson) writeJson(terminal, { isRemoved });
          if (isRemoved) return exitCodes.done;
          if (terminal.isJson) return exitCodes.failed;
          const text = `There is no consumer ${removeConsumer}. List them with --consumers.`;
          writeText(terminal.stderr, text);
          return exitCodes.failed;
        }
        if (consumers) {
          await withConfiguredKv(terminal, config, async (kv) => {
            for (const consumer of await loggedDatabase(kv).consumers())
              await stdout.write(escapeJson(JSON.stringify(consumer)));
          });
          return exitCodes.done;
        }
        const options = { live: follow, after, prefix: prefix && parseKey(prefix) };
        await withConfiguredKv(terminal, config, async (kv) => {
          const print = async (signal: AbortSignal) => {
            const settings = { ...options, prefix: options.prefix || undefined, signal };
            try {
              for await (const commit of loggedDatabase(kv).changes(settings)) {
                const { versionstamp, time, context, changes } = commit;
                const said = context !== undefined && { context: valueFields(context) };
                const line = { versionstamp, time, ...said, changes: changes.map(changeJson) };
                await stdout.write(escapeJson(JSON.stringify(line)));
                await stdout.flush();
                if (stdout.isEnded) return;
              }
            } catch (error) {
              if (!(signal.aborted && error === signal.reason)) throw error;
            }
          };
          await interruptible(terminal, print, "Stopping.");
        });
        return exitCodes.done;
      });
    });
}

function changeJson({ type, key, before, after, operand }: KvChange) {
  return {
    ...{ type, key: keyJson(key), before: valueJson(before), after: valueJson(after) },
    ...(operand !== undefined && { operand: String(operand.value) }),
  };
}

function valueJson(stored: KvLoggedValue | null) {
  if (stored === null) return null;
  const { value, expireAt } = stored;
  return { ...valueFields(value), ...(expireAt !== undefined && { expireAt }) };
}
