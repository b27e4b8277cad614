import { resolve } from "node:path";
import type { KvEntry, KvKey, KvLike } from "@keywright/core";
import { Command } from "commander";
import { parseKey } from "../../inspect/entries/parse-key.js";
import { keywrightPrefix } from "../../inspect/stats/model-places.js";
import { exportLines } from "../../inspect/transfer/export-lines.js";
import {
  type ExportTarget,
  linesTarget,
  openExportTarget,
} from "../../inspect/transfer/export-target.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { interruptible } from "../terminal/interruptible.js";
import { keyCount } from "../terminal/key-count.js";
import { shownPath, type Terminal } from "../terminal/terminal.js";
import { keyHelp } from "./key-help.js";
import { runInspectCommand, withConfiguredKv } from "./run-inspect-command.js";

const help = `
Between a first and a last line there is one for each entry:
  {"keywright":"export","format":1}
  {"key":["users","01J8Z3"],"value":{"name":"Ada","born":{"$":"date:1815-12-10T00:00:00.000Z"}}}
  {"key":["counts",{"$":"1n"}],"encoded":"Ag…","expireAt":1767225600000}
  {"keywright":"end","entries":2}
value is JSON in which {"$": "…"} stands for what JSON has no form of: words of keys, undefined, date:… and u64:…; where
that would not keep all of a value, as of a Map, encoded has it in the database's own encoding, in base64. expireAt is in
milliseconds since 1970; Deno KV does not tell it. Versionstamps and messages of the queue are not exported.

Entries are read in batches and not from one snapshot: stop the programs that write to have all as it was at one time, and
do not export while a migration changes rows. A file is there as a whole or not at all, and keeps the permissions of the
one that it replaces. To a device or a named pipe it is written as it comes: inspect import finds out where the end is
missing.
${keyHelp}

Examples:
  $ keywright inspect export --out backup.jsonl
  $ keywright inspect export '["users"]' | gzip > users.jsonl.gz

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.`;

interface ExportOptions {
  readonly out?: string;
  readonly config?: string;
}

/** Creates the command `keywright inspect export`. */
export function exportCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("export")
    .description("write the entries of the database as JSON lines, which inspect import reads")
    .argument("[prefix]", "a key: only what is under it is exported")
    .option("--out <file>", "a file, instead of standard output")
    .option("--config <path>", "the configuration file, instead of keywright.config.ts")
    .addHelpText("after", help)
    .action(async (prefix: string | undefined, options: ExportOptions) => {
      const path = options.out === undefined ? undefined : resolve(terminal.folder, options.out);
      await runInspectCommand(terminal, exit, async (stdout) => {
        const key = prefix === undefined ? undefined : parseKey(prefix);
        const target =
          path === undefined
            ? linesTarget(stdout, () => stdout.flush())
            : await openExportTarget(path);
        return await withConfiguredKv(
          terminal,
          options.config,
          async (kv) => await exportTo(terminal, kv, key, { target, path }),
        );
      });
    });
}

interface Destination {
  readonly target: ExportTarget;
  /** The path of the file. Undefined for standard output. */
  readonly path: string | undefined;
}

async function exportTo(
  terminal: Terminal,
  kv: KvLike,
  prefix: KvKey | undefined,
  { target, path }: Destination,
): Promise<ExitCode> {
  const { stderr } = terminal;
  const count = keyCount(terminal, "entries exported", path === undefined);
  let entries = 0;
  let isChanging = false;
  const onEntry = ({ key }: KvEntry<unknown>) => {
    count.update(++entries);
    isChanging ||= key[0] === keywrightPrefix && key[1] === "transform";
  };
  const write = (signal: AbortSignal) =>
    target.write(exportLines(kv, { prefix, signal }, onEntry), signal);
  const written = await interruptible(terminal, write, "Stopping.").finally(count.stop);
  if (written === "unread") return exitCodes.done;
  if (written !== "all") {
    stderr.write(`Stopped: ${stoppedTexts[written]}.\n`);
    return exitCodes.failed;
  }
  if (isChanging) stderr.write(changingWarning);
  const where = path === undefined ? "" : ` to ${shownPath(terminal, path)}`;
  stderr.write(`${entries.toLocaleString("en-US")} entries exported${where}.\n`);
  return exitCodes.done;
}

const stoppedTexts = {
  some: "what was written is not all of it",
  none: "no file was written",
} as const;

const changingWarning =
  "Warning: a migration was changing rows. Which of them it has changed is told by their versionstamps, and an import gives\n" +
  "them new ones: finish it with `npx keywright migrate run` and export again.\n";
