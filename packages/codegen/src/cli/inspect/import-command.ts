import { resolve } from "node:path";
import type { Readable } from "node:stream";
import type { KvLike } from "@keywright/core";
import { Command } from "commander";
import { FileFailedError, ImportIncompleteError } from "../../errors/inspect-errors.js";
import { keyJson } from "../../inspect/entries/entry-line.js";
import { formatKey } from "../../inspect/entries/format-key.js";
import type { LineOutput } from "../../inspect/entries/line-output.js";
import { openForReading } from "../../inspect/transfer/file-streams.js";
import {
  type ImportResult,
  importEntries,
  readHeader,
} from "../../inspect/transfer/import-entries.js";
import { type Line, readLines } from "../../inspect/transfer/read-lines.js";
import { errorReport } from "../terminal/error-report.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { interruptible } from "../terminal/process/interruptible.js";
import { ReportedError } from "../terminal/report-error.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, moreLine, shownNumber } from "../terminal/text/counted.js";
import { keyCount } from "../terminal/text/key-count.js";
import { helpText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { runInspectCommand, withConfiguredKv } from "./run-inspect-command.js";

const help = helpText(`
An entry that the database already has, with the same value and expiry, is left as it is. If another
value is under its key, the entry is refused: the stored value stays, the other entries are imported,
and the exit code is 3. --overwrite replaces such values. --dry-run reports all of this without
writing, and needs memory for each key that would be written.

If the last line of the export is missing, the export was truncated: the entries before the end are
imported, and the exit code is 1. A line that does not belong to an export ends the import: the
entries above it are imported.

Entries are written in commits of some hundred. After Ctrl-C or an error, run the command again.
Expired entries are left out. Indexes are not updated: import rows together with their index entries,
as in an export of the whole database, and check them with keywright verify.

Examples:
  $ keywright inspect import backup.jsonl --dry-run
  $ keywright inspect import backup.jsonl --overwrite
  $ gunzip -c users.jsonl.gz | keywright inspect import

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage, 3 entries were refused.`);

interface ImportCommandOptions extends ResultOptions {
  readonly overwrite?: true;
  readonly dryRun?: true;
}

export function importCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command: Command = withResultOptions(
    new Command("import")
      .description("write the entries of an export to the database")
      .argument("[file]", "a file from inspect export; the default is standard input")
      .option("--overwrite", "replace different entries under the same keys")
      .option("--dry-run", "report what would be written, and write nothing"),
  )
    .addHelpText("after", help)
    .action(async (file: string | undefined, options: ImportCommandOptions) => {
      if (file === undefined && terminal.stdin.isTTY) {
        command.error(
          "error: there is no input: name a file, or use keywright inspect import < file",
        );
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

async function report(
  terminal: Terminal,
  output: LineOutput,
  result: ImportResult,
  { json, dryRun }: ImportCommandOptions,
): Promise<void> {
  const { fault, ...counts } = result;
  const { ending, entries, announced } = result;
  const failure =
    fault ?? (ending === "cut" ? new ImportIncompleteError({ entries, announced }) : undefined);
  if (json) {
    const shown = { ...counts, refusedKeys: result.refusedKeys.map(keyJson) };
    writeJson(terminal, shown, failure && errorReport(failure));
  } else for (const line of importSummary(terminal, result, dryRun)) await output.write(line);
  await output.flush();
  if (failure !== undefined) throw json ? new ReportedError() : failure;
}

function exitCodeOf({ ending, refused }: ImportResult): ExitCode {
  if (ending !== "complete") return exitCodes.failed;
  return refused > 0 ? exitCodes.undecided : exitCodes.done;
}

class ImportSource {
  readonly lines: AsyncGenerator<Line>;
  readonly #stream: Readable;
  readonly #path: string;
  #isClosed = false;

  constructor(stream: Readable, path: string) {
    this.#stream = stream;
    this.#path = path;
    this.lines = this.#read();
  }

  /** Ends the lines, even while more input is awaited: the writer of a pipe may be waiting too. */
  close(): void {
    this.#isClosed = true;
    this.#stream.destroy();
  }

  async *#read(): AsyncGenerator<Line> {
    try {
      yield* readLines(this.#chunks());
    } catch (error) {
      // After `close`, the input may end within a character.
      if (!this.#isClosed) throw error;
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array | string> {
    try {
      for await (const chunk of this.#stream) yield chunk as Uint8Array | string;
    } catch (error) {
      throw new FileFailedError({ path: this.#path }, error);
    }
  }
}

async function openImportSource(
  { folder, stdin }: Terminal,
  file: string | undefined,
): Promise<ImportSource> {
  if (file === undefined) return new ImportSource(stdin, "standard input");
  const path = resolve(folder, file);
  try {
    return new ImportSource(await openForReading(path), path);
  } catch (error) {
    throw new FileFailedError({ path }, error);
  }
}

function importSummary(
  { stdout }: Terminal,
  result: ImportResult,
  isDryRun: boolean | undefined,
): string[] {
  const { created, replaced, unchanged, expired, refused, refusedKeys, ending } = result;
  const would = isDryRun ? "would be " : "";
  const parts = [
    `${counted(created, "entry", "entries")} ${would}created`,
    ...(replaced > 0 ? [`${shownNumber(replaced)} ${would}replaced`] : []),
    ...(unchanged > 0 ? [`${shownNumber(unchanged)} unchanged`] : []),
    ...(expired > 0 ? [`${shownNumber(expired)} left out because expired`] : []),
  ];
  const heading = `${counted(refused, "entry", "entries")} ${would}refused, because the database has another value under the same key:`;
  return [
    `${parts.join(", ")}.`,
    ...(refused === 0
      ? []
      : [
          styled(stdout, "yellow", heading),
          ...refusedKeys.map((key) => `  ${formatKey(key)}`),
          ...moreLine(refused - refusedKeys.length),
          "The stored values stay as they are. To replace them, use --overwrite.",
        ]),
    ...(ending === "stopped"
      ? ["Stopped before the end. To continue, run the command again."]
      : []),
  ];
}
