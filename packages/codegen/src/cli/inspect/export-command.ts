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
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { interruptible } from "../terminal/process/interruptible.js";
import { withResultOptions } from "../terminal/run-options.js";
import { shownPath, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { keyCount } from "../terminal/text/key-count.js";
import { commandLine, helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { keyHelp } from "./key-help.js";
import { runInspectCommand, withConfiguredKv } from "./run-inspect-command.js";

const help = helpText(`
The export has a first line, a line for each entry, and a last line:
  {"keywright":"export","format":1}
  {"key":["users","01J8Z3"],"value":{"name":"Ada","born":{"$":"date:1815-12-10T00:00:00.000Z"}}}
  {"key":["counts",{"$":"1n"}],"encoded":"Ag…","expireAt":1767225600000}
  {"keywright":"end","entries":2}
"value" is JSON. In it, {"$": "…"} represents what JSON lacks: the words of keys, undefined, date:… and
u64:…. If JSON cannot represent the whole value, for example a Map, "encoded" contains it in the
database's own encoding, in base64. "expireAt" is in milliseconds since 1970. Deno KV does not report
it. Versionstamps and queue messages are not exported.

The export has one state of the database, and programs may use it during the export. Deno KV has no snapshots:
if it changes before the end, the export fails. Do not export while a migration changes rows. A file is written completely or not at all,
and keeps the permissions of the file that it replaces. A device or a named pipe receives the lines
one by one, and inspect import detects a missing end.
${keyHelp}

Examples:
  $ keywright inspect export --out backup.jsonl
  $ keywright inspect export '["users"]' | gzip > users.jsonl.gz

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.`);

interface ExportOptions {
  readonly out?: string;
  readonly config?: string;
}

export function exportCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("export")
      .description("write entries of the database as JSON lines for inspect import")
      .argument("[prefix]", "a key: export only the entries below it")
      .option("--out <file>", "write to a file instead of standard output"),
  )
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
    writeText(stderr, `Stopped. ${stoppedTexts[written]}`);
    return exitCodes.failed;
  }
  if (isChanging) writeText(stderr, changingWarning);
  if (terminal.isJson && path !== undefined) writeJson(terminal, { path, entries });
  const where = path === undefined ? "" : ` to ${shownPath(terminal, path)}`;
  writeText(stderr, `${counted(entries, "entry", "entries")} exported${where}.`);
  return exitCodes.done;
}

const stoppedTexts = {
  some: "The output is not complete.",
  none: "No file was written.",
} as const;

const changingWarning = `Warning: a migration was changing rows during this export. The versionstamps show which rows it has changed, and an import writes new ones. Finish the migration, then export again:\n${commandLine("migrate run")}`;
