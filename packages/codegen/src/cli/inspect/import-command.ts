import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { FileFailedError } from "../../errors/inspect-errors.js";
import { keyJson } from "../../inspect/entry-line.js";
import { formatKey } from "../../inspect/format-key.js";
import { type ImportResult, importEntries } from "../../inspect/import-entries.js";
import { readLines } from "../../inspect/read-lines.js";
import { type ExitCode, exitCodes } from "../exit-codes.js";
import { styled, type Terminal } from "../terminal.js";
import { writeJson } from "../write-json.js";
import { inspectingDatabase } from "./inspecting.js";
import { keyCount } from "./key-count.js";

const help = `
An entry that is there already, with the same value and expiry, is left alone. Where something else is under its key, it is
refused: what is there stays, the rest is imported, and the command says how many there are and exits with 3. With
--overwrite they are replaced. --dry-run says all of that beforehand.

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

/** `keywright inspect import`. */
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
      const { overwrite, dryRun, json, config } = options;
      await inspectingDatabase(terminal, exit, config, async (kv, { output, signal }) => {
        const count = keyCount(terminal, "entries read", false);
        const lines = readLines(chunksOf(terminal, file, signal));
        try {
          const settings = { overwrite, dryRun, signal, onProgress: count.update };
          const result = await importEntries(kv, lines, settings).finally(count.stop);
          if (json)
            writeJson(terminal, { ...result, refusedKeys: result.refusedKeys.map(keyJson) });
          else for (const line of summary(terminal, result, dryRun)) await output.write(line);
          return exitCodeOf(result);
        } finally {
          await lines.return(undefined);
        }
      });
    });
  return command;
}

function exitCodeOf({ isComplete, refused }: ImportResult): ExitCode {
  if (!isComplete) return exitCodes.failed;
  return refused > 0 ? exitCodes.undecided : exitCodes.done;
}

/** @throws {FileFailedError} where it cannot be read. */
async function* chunksOf(
  { folder, stdin }: Terminal,
  file: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array | string> {
  if (signal.aborted) return;
  const path = file === undefined ? "standard input" : resolve(folder, file);
  const stream = file === undefined ? stdin : createReadStream(path);
  try {
    // Who pipes into it may wait for something itself.
    signal.addEventListener("abort", () => stream.destroy(), { once: true });
    for await (const chunk of stream) yield chunk as Uint8Array | string;
  } catch (error) {
    if (!signal.aborted) throw new FileFailedError(path, error);
  }
}

function summary(
  { stdout }: Terminal,
  result: ImportResult,
  isDryRun: boolean | undefined,
): string[] {
  const { created, replaced, unchanged, expired, refused, refusedKeys, isComplete } = result;
  const would = isDryRun ? "would be " : "";
  const parts = [
    `${counted(created, "entry", "entries")} ${would}created`,
    ...(replaced > 0 ? [`${shown(replaced)} ${would}replaced`] : []),
    ...(unchanged > 0 ? [`${shown(unchanged)} there already`] : []),
    ...(expired > 0 ? [`${shown(expired)} left out, whose time is over`] : []),
  ];
  const more = refused - refusedKeys.length;
  return [
    `${parts.join(", ")}.`,
    ...(refused === 0
      ? []
      : [
          styled(
            stdout,
            "yellow",
            `${counted(refused, "entry", "entries")} ${would}refused, for something else is under the same ${refused === 1 ? "key" : "keys"}:`,
          ),
          ...refusedKeys.map((key) => `  ${formatKey(key)}`),
          ...(more > 0 ? [`  and ${shown(more)} more`] : []),
          "It stays as it is. With --overwrite it is replaced.",
        ]),
    ...(isComplete ? [] : ["Stopped before the end: run the command again, and it goes on."]),
  ];
}

function counted(count: number, one: string, many: string): string {
  return `${shown(count)} ${count === 1 ? one : many}`;
}

function shown(count: number): string {
  return count.toLocaleString("en-US");
}
