import type { EmbeddedKv, KvChange, KvLoggedValue } from "@keywright/core";
import { Command } from "commander";
import { keyJson, valueFields } from "../../inspect/entries/entry-line.js";
import { escapeJson } from "../../inspect/entries/escape-controls.js";
import { parseKey } from "../../inspect/entries/parse-key.js";
import { keyHelp } from "../inspect/key-help.js";
import { runInspectCommand, withConfiguredKv } from "../inspect/run-inspect-command.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { interruptible } from "../terminal/process/interruptible.js";
import { withConfigOption } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText } from "../terminal/text/wrap.js";

const help = helpText(`
Prints a line of JSON for each commit of the log, the oldest first. The database must keep a log: \`keywright log
on\`.
  {"versionstamp":"00000000000000070000","time":"2026-07-01T12:00:00.000Z","changes":[
    {"type":"set","key":["users","ada"],"before":null,"after":{"value":{"name":"Ada"}}}]}
Values are written as by \`keywright inspect export\`. To continue later, pass the versionstamp of the last
line to --after.
${keyHelp}

Examples:
  $ keywright changes --prefix '["users"]'
  $ keywright changes --follow --after 00000000000000070000

Exit codes: 0 done or stopped, 1 failed, 2 wrong usage.`);

interface ChangesOptions {
  readonly config?: string;
  readonly follow?: boolean;
  readonly after?: string;
  readonly prefix?: string;
}

export function changesCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withConfigOption(
    new Command("changes")
      .description("print what commits have changed, as JSON lines")
      .option("--follow", "wait for further commits until Ctrl-C")
      .option("--after <versionstamp>", "begin after this commit")
      .option("--prefix <key>", "only changes of keys below this one"),
  )
    .addHelpText("after", help)
    .action(async ({ config, follow = false, after, prefix }: ChangesOptions) => {
      await runInspectCommand(terminal, exit, async (stdout) => {
        const options = { live: follow, after, prefix: prefix && parseKey(prefix) };
        await withConfiguredKv(terminal, config, async (kv) => {
          const print = async (signal: AbortSignal) => {
            const settings = { ...options, prefix: options.prefix || undefined, signal };
            try {
              for await (const commit of (kv as EmbeddedKv).changes(settings)) {
                const { versionstamp, time, changes } = commit;
                const line = { versionstamp, time, changes: changes.map(changeJson) };
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
