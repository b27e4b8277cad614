import type { KvLike } from "@keywright/core";
import { Command } from "commander";
import { ImportIncompleteError } from "../../errors/inspect-errors.js";
import { keyJson } from "../../inspect/entries/entry-line.js";
import type { LineOutput } from "../../inspect/entries/line-output.js";
import {
  type ImportResult,
  importEntries,
  readHeader,
} from "../../inspect/transfer/import-entries.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { interruptible } from "../terminal/interruptible.js";
import { keyCount } from "../terminal/key-count.js";
import type { Terminal } from "../terminal/terminal.js";
import { writeJson } from "../terminal/write-json.js";
import { type ImportSource, openImportSource } from "./import-source.js";
import { importSummary } from "./import-summary.js";
import { runInspectCommand, withConfiguredKv } from "./run-inspect-command.js";

const help = `
An entry that is there already, with the same value and expiry, is left alone. Where something else is under its key, it is
refused: what is there stays, the rest is imported, and the command says how many there are and exits with 3. With
--overwrite they are replaced. --dry-run says all of that beforehand; it takes memory for each key that would be written.

An export that does not end with its last line was cut off, maybe within a line: the command imports what there is, says so
and exits with 1. At a line that is none of an export it ends: what stands above it is imported.

It writes in commits of some hundred entries: after Ctrl-C or an error, run it again. Entries whose time is over are left
out. They are written as they are, and nothing keeps indexes up: import rows together with their indexes, as an export of
the whole database has them, and look at them with keywright verify.

Examples:
  $ keywright inspect import backup.jsonl --dry-run
  $ keywright inspect import backup.jsonl --overwrite
  $ gunzip -c users.jsonl.gz | keywright inspect import

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage, 3 entries were refused.`;

interface ImportCommandOptions {
  readonly overwrite?: true;
  readonly dryRun?: true;
  readonly json?: true;
  readonly config?: string;
}

/** Creates the command `keywright inspect import`. */
export function importCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command: Command = new Command("import")
    .description("put the entries of an export into the database")
    .argument("[file]", "what inspect export has written; standard input without it")
    .option("--overwrite", "replace what is under the same keys")
    .option("--dry-run", "write nothing, and say what would be done")
    .option("--json", "print the result as one JSON document")
    .option("--config <path>", "the configuration file, instead of keywright.config.ts")
    .addHelpText("after", help)
    .action(async (file: string | undefined, options: ImportCommandOptions) => {
      if (file === undefined && terminal.stdin.isTTY) {
        command.error("error: name a file, or pipe one in: keywright inspect import < file");
      }
      await runInspectCommand(terminal, exit, async (output) => {
        const source = await openImportSource(terminal, file);
        try {
          // Checked before the database is opened, which may create one.
          await readHeader(source.lines);
          const result = await importFrom(terminal, source, options);
          await report(terminal, output, result, options);
          return exitCodeOf(result);
        } finally {
          source.close();
        }
      });
    });
  return command;
}

async function importFrom(
  terminal: Terminal,
  source: ImportSource,
  { overwrite, dryRun, config }: ImportCommandOptions,
): Promise<ImportResult> {
  const run = (kv: KvLike) => async (signal: AbortSignal) => {
    signal.addEventListener("abort", () => source.close(), { once: true });
    const count = keyCount(terminal, "entries read", false);
    const options = { overwrite, dryRun, signal, onProgress: count.update };
    return await importEntries(kv, source.lines, options).finally(count.stop);
  };
  return await withConfiguredKv(
    terminal,
    config,
    async (kv) => await interruptible(terminal, run(kv), dryRun ? "Stopping." : undefined),
    dryRun ? "empty" : "create",
  );
}

/**
 * Reports what was imported, even if the import is incomplete.
 *
 * @throws {ImportIncompleteError} if the export is truncated.
 * @throws {ImportLineError} if a line is faulty.
 * @throws {ImportRefusedError} if the database does not accept an entry.
 */
async function report(
  terminal: Terminal,
  output: LineOutput,
  result: ImportResult,
  { json, dryRun }: ImportCommandOptions,
): Promise<void> {
  const { fault } = result;
  if (json) {
    writeJson(terminal, {
      ...result,
      refusedKeys: result.refusedKeys.map(keyJson),
      fault: fault && { code: fault.code, line: fault.line },
    });
  } else for (const line of importSummary(terminal, result, dryRun)) await output.write(line);
  await output.flush();
  if (fault !== undefined) throw fault;
  if (result.ending === "cut") throw new ImportIncompleteError(result.entries, result.announced);
}

function exitCodeOf({ ending, refused }: ImportResult): ExitCode {
  if (ending !== "complete") return exitCodes.failed;
  return refused > 0 ? exitCodes.undecided : exitCodes.done;
}
