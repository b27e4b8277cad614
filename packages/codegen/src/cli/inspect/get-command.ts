import { encodeValue, type KvEntry } from "@keywright/core";
import { Command } from "commander";
import { EntryMissingError } from "../../errors/inspect-errors.js";
import { keyJson, valueFields } from "../../inspect/entries/entry-line.js";
import { formatKey } from "../../inspect/entries/format-key.js";
import { parseKey } from "../../inspect/entries/parse-key.js";
import { showValue } from "../../inspect/entries/show-value.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { helpText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { keyHelp } from "./key-help.js";
import { runInspectCommand, withConfiguredKv } from "./run-inspect-command.js";

const help = helpText(`${keyHelp}

With --json, "value" contains the value, as in an export: {"$": "…"} represents words of keys, dates,
undefined and 64-bit integers. If JSON cannot represent the whole value, "encoded" contains it.

Examples:
  $ keywright inspect get '["users", "01J8Z3"]'
  $ keywright inspect get '["users_by_email", "ada@example.com"]' --json

Exit codes: 0 done; 1 failed, or there is no entry; 2 wrong usage.`);

export function getCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("get")
      .description("show the value, the versionstamp and the expiry time of a key")
      .argument("<key>", 'the key, such as \'["users", "01J8Z3"]\''),
  )
    .addHelpText("after", help)
    .action(async (text: string, { json, config }: ResultOptions) => {
      await runInspectCommand(terminal, exit, async (output) => {
        const key = parseKey(text);
        const found = await withConfiguredKv(terminal, config, async (kv) => await kv.get(key));
        if (found.versionstamp === null) throw new EntryMissingError({ key: formatKey(key) });
        const entry = found as KvEntry<unknown>;
        if (json) writeJson(terminal, jsonOf(entry));
        else await output.write(entryText(entry, terminal));
        return exitCodes.done;
      });
    });
}

function jsonOf({ key, value, versionstamp, expireAt }: KvEntry<unknown>): object {
  return { key: keyJson(key), ...valueFields(value), versionstamp, expireAt };
}

function entryText(
  { key, value, versionstamp, expireAt }: KvEntry<unknown>,
  { stdout }: Terminal,
): string {
  const facts = [
    ["key", formatKey(key)],
    ["versionstamp", versionstamp],
    ["size", counted(encodeValue(value).length, "byte")],
    ...(expireAt === undefined ? [] : [["expires", new Date(expireAt).toISOString()]]),
  ] as const;
  const lines = facts.map(
    ([name = "", fact]) => `${styled(stdout, "dim", name.padEnd(12))}  ${fact}`,
  );
  const colors = styled(stdout, "dim", "") !== "";
  return [...lines, "", showValue(value, colors)].join("\n");
}
