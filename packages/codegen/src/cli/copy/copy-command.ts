import { type CopyProgress, copyKv, type KvLike } from "@keywright/core";
import { Command } from "commander";
import { counted } from "../terminal/counted.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { withProgress } from "../terminal/with-progress.js";
import { helpText, writeText } from "../terminal/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { type CopyPlaces, withCopyDatabases } from "./copy-databases.js";
import { copyProgress } from "./copy-progress.js";
import { countEntries } from "./count-entries.js";

const help = helpText(`
Copies every entry. A database is named by the path of a Keywright database, by the path of a file of
Deno KV, by the URL of a KV Connect server (with the token in DENO_KV_ACCESS_TOKEN), or by a setting
of keywright.config.ts: database, adopt.from, copy.from or copy.to. The defaults are copy.from, and
copy.to or else database. In Node.js, a file of Deno KV and a URL need the package @deno/kv.

The source is only read. If a copy is stopped, the same command continues it. Entries of the target
under other keys stay. Messages of queues and versionstamps are not copied. Deno KV does not report
when entries expire, so the setting copy.expireIn can say it:
  copy: {
    from: () => openKv("data/old"),
    expireIn: ({ key }) => (key[0] === "sessions" ? 86_400_000 : undefined),
  },

Node.js cannot read values that a later Deno has written. Then run the command in Deno.

Examples:
  $ keywright copy data/old data/new    copy between two paths
  $ keywright copy kv.sqlite database   copy a file of Deno KV into the project's database

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.`);

interface CopyCommandOptions extends ResultOptions {
  readonly restart?: true;
}

export function copyCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("copy")
      .description("copy a database into another, also from and to Deno KV")
      .argument("[from]", "a path, a URL or a setting; the default is copy.from")
      .argument("[to]", "a path, a URL or a setting; the default is copy.to or database")
      .option("--restart", "begin with the first entry, and forget a copy that was stopped"),
  )
    .addHelpText("after", help)
    .action(
      async (from: string | undefined, to: string | undefined, options: CopyCommandOptions) => {
        const places = { from, to, config: options.config };
        const result = await withCopyDatabases(terminal.folder, places, async (databases) =>
          runCopy(terminal, databases, options.restart === true),
        );
        if (options.json) writeJson(terminal, result);
        else writeText(terminal.stdout, resultText(terminal, result));
        exit(result.status === "done" ? exitCodes.done : exitCodes.failed);
      },
    );
}

interface CopyResult extends CopyProgress {
  readonly status: "done" | "stopped";
}

async function runCopy(
  terminal: Terminal,
  { from, to, expireIn }: CopyPlaces,
  restart: boolean,
): Promise<CopyResult> {
  const reporter = copyProgress(terminal.stderr);
  let last: CopyProgress = { entries: 0, bytes: 0, resumed: false };
  return await withProgress(terminal, reporter, async ({ signal, onProgress }) => {
    // Only a bar needs the total, which takes a pass over the source.
    if (terminal.stderr.isTTY) reporter.setTotal(await totalOf(from, signal));
    try {
      const done = await copyKv(from, to, {
        restart,
        signal,
        ...(expireIn !== undefined && { expireIn }),
        onProgress: (progress) => {
          last = progress;
          onProgress(progress);
        },
      });
      return { status: "done", ...done };
    } catch (error) {
      if (signal.aborted && error === signal.reason) return { status: "stopped", ...last };
      throw error;
    }
  });
}

/** Returns undefined if the source has values that cannot be read. The copy reports them. */
async function totalOf(from: KvLike, signal: AbortSignal): Promise<number | undefined> {
  return await countEntries(from, signal).catch(() => undefined);
}

function resultText({ stdout }: Terminal, { status, entries, resumed }: CopyResult): string {
  const copied = `${counted(entries, "entry", "entries")} copied`;
  if (status === "stopped") {
    const what = styled(stdout, "yellow", "Stopped.");
    return `${what} ${copied}. To continue, run the same command again.`;
  }
  const runs = resumed ? ", including those of the run before" : "";
  return `${styled(stdout, "green", "Done.")} ${copied}${runs}.`;
}
