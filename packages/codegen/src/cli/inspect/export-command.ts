import { resolve } from "node:path";
import type { KvLike } from "@keywright/core";
import { Command } from "commander";
import { exportLines } from "../../inspect/export-lines.js";
import { parseKey } from "../../inspect/parse-key.js";
import { writeWholeFile } from "../../inspect/whole-file.js";
import { type ExitCode, exitCodes } from "../exit-codes.js";
import { shownPath, type Terminal } from "../terminal.js";
import { type Inspection, inspectingDatabase } from "./inspecting.js";
import { keyCount } from "./key-count.js";
import { keyHelp } from "./key-help.js";

const help = `
The first line is {"keywright":"export","format":1}, and each line after it one entry:
  {"key":["users","01J8Z3"],"value":{"name":"Ada","born":{"$":"date:1815-12-10T00:00:00.000Z"}}}
  {"key":["counts",{"$":"1n"}],"encoded":"Ag…","expireAt":1767225600000}
value is JSON in which {"$": "…"} stands for what JSON has no form of: words of keys, undefined, date:… and u64:…; where
that would not keep all of a value, as of a Map, encoded has it in the database's own encoding, in base64. expireAt is in
milliseconds since 1970; Deno KV does not tell it. Versionstamps and messages of the queue are not exported.

Entries are read in batches and not from one snapshot: stop the programs that write to have all as it was at one time, and
do not export while a migration changes rows. A file is there as a whole or not at all.
${keyHelp}

Examples:
  $ keywright inspect export --out backup.jsonl
  $ keywright inspect export '["users"]' | gzip > users.jsonl.gz

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.`;

/** `keywright inspect export`. */
export function exportCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("export")
    .description("write the entries of the database as JSON lines, which inspect import reads")
    .argument("[prefix]", "a key: only what is under it is exported")
    .option("--out <file>", "a file, instead of standard output")
    .option("--config <path>", "the configuration file, instead of keywright.config.ts")
    .addHelpText("after", help)
    .action(async (prefix: string | undefined, options: { out?: string; config?: string }) => {
      const { out, config } = options;
      await inspectingDatabase(terminal, exit, config, (kv, inspection) =>
        exportTo(terminal, kv, inspection, {
          prefix: prefix === undefined ? undefined : parseKey(prefix),
          path: out === undefined ? undefined : resolve(terminal.folder, out),
        }),
      );
    });
}

interface ExportTarget {
  readonly prefix: ReturnType<typeof parseKey> | undefined;
  /** Standard output without it. */
  readonly path: string | undefined;
}

async function exportTo(
  terminal: Terminal,
  kv: KvLike,
  { output, signal }: Inspection,
  { prefix, path }: ExportTarget,
): Promise<ExitCode> {
  const { stderr } = terminal;
  const count = keyCount(terminal, "entries exported", path === undefined);
  let entries = 0;
  let isChanging = false;
  const lines = exportLines(kv, { prefix, signal }, (entry) => {
    count.update(++entries);
    isChanging ||= entry.key[0] === "__keywright" && entry.key[1] === "transform";
  });
  try {
    if (path !== undefined) await writeWholeFile(path, lines, signal);
    else for await (const line of lines) await output.write(line);
  } finally {
    count.stop();
  }
  if (output.isEnded) return exitCodes.done;
  if (signal.aborted) {
    stderr.write(
      path === undefined
        ? "Stopped: what was written is not all of it.\n"
        : "Stopped: no file was written.\n",
    );
    return exitCodes.failed;
  }
  if (isChanging) stderr.write(changingWarning);
  const where = path === undefined ? "" : ` to ${shownPath(terminal, path)}`;
  stderr.write(`${entries.toLocaleString("en-US")} entries exported${where}.\n`);
  return exitCodes.done;
}

const changingWarning =
  "Warning: a migration was changing rows. Which of them it has changed is told by their versionstamps, and an import gives\n" +
  "them new ones: finish it with `npx keywright migrate run` and export again.\n";
