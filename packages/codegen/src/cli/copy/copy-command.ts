import { type CopyProgress, type CopyResult, copyKv, type KvLike } from "@keywright/core";
import { Command } from "commander";
import { units } from "../../progress/progress-text.js";
import { reporterFor } from "../../progress/reporter-for.js";
import type { CopyConfig } from "../../project/config/config.js";
import { withoutNewDatabases } from "../../project/config/without-new-databases.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { withProgress } from "../terminal/with-progress.js";
import { writeJson } from "../terminal/write-json.js";
import { configFor, denoFile, isSetting, openPlace } from "./open-place.js";
import { moveText, runMove, runUndo } from "./run-move.js";

const help = helpText(`
Copies one state of a database, and then compares both. Programs may use the source during the copy. A KV
Connect server, and in Node.js a file of Deno KV, has no snapshots: if it changes before the end, the copy
fails. A database is named by a path, a URL or a setting of keywright.config.ts:
  data/app                               the folder of a Keywright database
  kv.sqlite                              a file of Deno KV
  https://…                              a KV Connect server, with the token in
                                         DENO_KV_ACCESS_TOKEN
  postgres://user:password@host:5432,host2:5432/name?prefix=table
  etcd://user:password@host:2379,host2:2379/prefix      (etcds:// with TLS)
  lmdb:data/app.mdb                      an LMDB file
  sqlite:data/app.sqlite                 an SQLite file
  database, adopt.from, copy.from, copy.to              a setting
The defaults are copy.from, and copy.to or else database. Other users of the machine can see the
arguments of a command, so put a URL with a password into the configuration. URLs of etcd,
PostgreSQL, LMDB and SQLite need the packages @keywright/etcd, @keywright/postgres, @keywright/lmdb
and @keywright/sqlite. In Node.js, Deno KV needs the package @deno/kv.

The source is only read. If a copy is stopped, the same command continues it, and copies what has
changed since. If the source has deleted copied entries since, the command fails: then copy into an
empty database. Entries of the target under other keys stay, so a backup needs an empty target too.
The target assigns its own versionstamps, in the order of those of the source.

In Deno, a file of Deno KV brings along when its entries expire, and the messages of its queue with
the time at which they are due. The file still has the messages, so let only one program handle
them. In Node.js and from a KV Connect server, neither comes along. Then the setting copy.expireIn
can say when entries expire:
  copy: {
    from: () => openKv("data/old"),
    expireIn: ({ key }) => (key[0] === "sessions" ? 86_400_000 : undefined),
  },

The command runs the code of keywright.config.ts if it finds one, for its settings and for
copy.expireIn. With --no-config, it runs none: both databases must be paths or URLs.

--follow --switch moves the database while programs write to it. It copies the commits of the log until both are
the same, refuses commits for some milliseconds, and marks the source as moved: its programs get the error
KW_DATABASE_MOVED with the name of the target, without user and password. Open the target there. No
acknowledged commit is lost. The source needs a log (\`keywright log on\`). If the command is stopped, the
source is used as before, and the same command continues. --undo lets programs use the source again,
without what was written to the target since.

Node.js cannot read all values that Deno has written. Run the command in Deno for files of Deno KV.

Examples:
  $ keywright copy data/old data/new    copy between two paths
  $ keywright copy kv.sqlite database   copy a file of Deno KV into the project's database
  $ keywright copy data/app /backups/monday --no-config
  $ keywright copy data/app sqlite:data/app.sqlite --follow --switch
  $ keywright copy data/app --undo
  $ keywright copy --from data/app --to etcd://10.0.0.1,10.0.0.2,10.0.0.3/app

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.`);

interface CopyCommandOptions extends Omit<ResultOptions, "config"> {
  /** False for `--no-config`. */
  readonly config?: string | false;
  readonly from?: string;
  readonly to?: string;
  readonly restart?: boolean;
  readonly verify: boolean;
  readonly messages: boolean;
  readonly follow?: boolean;
  readonly switch?: boolean;
  readonly undo?: boolean;
}

export function copyCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("copy")
      .description("copy a database into another, on any engine")
      .argument("[from]", "a path, a URL or a setting; the default is copy.from")
      .argument("[to]", "a path, a URL or a setting; the default is copy.to or database")
      .option("--from <database>", "the same as the first argument")
      .option("--to <database>", "the same as the second argument")
      .option("--restart", "begin with the first entry, and forget a copy that was stopped")
      .option("--no-messages", "leave out the messages of a queue of Deno KV")
      .option("--no-verify", "do not compare the databases at the end")
      .option("--follow", "with --switch: copy what programs commit during the copy")
      .option("--switch", "with --follow: let programs use the target from now on")
      .option("--undo", "let programs use a source again that was moved"),
  )
    .option("--no-config", "do not run the code of keywright.config.ts")
    .addHelpText("after", help)
    .action(
      async (
        from: string | undefined,
        to: string | undefined,
        options: CopyCommandOptions,
        command: Command,
      ) => {
        const places = { ...placesOf(command, [from, to], options), config: options.config };
        const needed = options.undo ? { ...places, to: places.from } : places;
        if (places.config === false && !areIndependent(needed))
          command.error("error: with --no-config, both databases must be paths or URLs");
        if ((options.follow === true) !== (options.switch === true))
          command.error("error: --follow and --switch belong together");
        if (options.undo || options.switch) {
          exit(await moveOrUndo(terminal, places, options));
          return;
        }
        const result = await withCopyDatabases(terminal.folder, places, async (databases) =>
          runCopy(terminal, databases, options),
        );
        if (options.json) writeJson(terminal, result);
        else writeText(terminal.stdout, resultText(terminal, result));
        exit(result.status === "done" ? exitCodes.done : exitCodes.failed);
      },
    );
}

function placesOf(
  command: Command,
  [first, second]: readonly (string | undefined)[],
  { from, to }: CopyCommandOptions,
): { from: string | undefined; to: string | undefined } {
  if (first !== undefined && from !== undefined) {
    // `keywright copy --from a b`: the only argument is the target.
    if (to === undefined && second === undefined) return { from, to: first };
    command.error("error: the source is named by --from and by an argument");
  }
  if (second !== undefined && to !== undefined)
    command.error("error: the target is named by --to and by an argument");
  return { from: from ?? first, to: to ?? second };
}

async function moveOrUndo(
  terminal: Terminal,
  { from = "copy.from", to = "copy.to", config }: CopyArguments,
  { undo, json }: CopyCommandOptions,
): Promise<ExitCode> {
  if (undo) {
    const wasMoved = await runUndo(terminal, { from, config });
    const text = wasMoved ? "Done. The source accepts commits again." : "The source was not moved.";
    if (json) writeJson(terminal, { status: wasMoved ? "done" : "not moved" });
    else writeText(terminal.stdout, text);
    return exitCodes.done;
  }
  const report = await runMove(terminal, { from, to, config });
  if (json) writeJson(terminal, report);
  else writeText(terminal.stdout, moveText(terminal, report));
  return report.status === "done" ? exitCodes.done : exitCodes.failed;
}

/** True if no database is named by a setting. */
function areIndependent({ from, to }: CopyArguments): boolean {
  return [from, to].every((place) => place !== undefined && !isSetting(place));
}

interface CopyReport extends CopyResult {
  readonly status: "done" | "stopped";
}

async function runCopy(
  terminal: Terminal,
  { from, to, expireIn }: CopyPlaces,
  { restart = false, verify, messages: hasMessages }: CopyCommandOptions,
): Promise<CopyReport> {
  const reporter = reporterFor(terminal.stderr, (progress: CopyProgress) => {
    return { ...progress, model: "copy", unit: units.entries };
  });
  let last: CopyResult = {
    entries: 0,
    bytes: 0,
    total: 0,
    verified: 0,
    messages: 0,
    resumed: false,
  };
  return await withProgress(terminal, reporter, async ({ signal, onProgress }) => {
    try {
      const done = await copyKv(from, to, {
        restart,
        verify,
        messages: hasMessages,
        signal,
        ...(expireIn !== undefined && { expireIn }),
        onProgress: (progress) => {
          const { entries, bytes, total, verified, messages, resumed } = progress;
          last = { entries, bytes, total, verified, messages, resumed };
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

function resultText(
  { stdout }: Terminal,
  { status, entries, messages, verified, resumed }: CopyReport,
): string {
  const queued = messages === 0 ? "" : ` and ${counted(messages, "message", "messages")}`;
  const copied = `${counted(entries, "entry", "entries")}${queued} copied`;
  if (status === "stopped") {
    const what = styled(stdout, "yellow", "Stopped.");
    return `${what} ${copied}. To continue, run the same command again.`;
  }
  const runs = resumed ? ", including those of the run before" : "";
  return `${styled(stdout, "green", "Done.")} ${copied}${runs}${verified > 0 ? comparedText(messages) : ""}.`;
}

/** Only entries are compared. */
function comparedText(messages: number): string {
  return messages === 0 ? ", and all compared" : ", and all entries compared";
}

/** The databases of a copy, as the command line names them. */
interface CopyArguments {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The file of the configuration. False to load none. */
  readonly config: string | false | undefined;
}

interface CopyPlaces {
  /** A database, or the path of a file of Deno KV. */
  readonly from: KvLike | string;
  readonly to: KvLike;
  readonly expireIn: CopyConfig["expireIn"];
}

/** Opens both databases, passes them to `use`, and closes them afterwards. */
async function withCopyDatabases<T>(
  folder: string,
  { from, to, config: configFile }: CopyArguments,
  use: (places: CopyPlaces) => Promise<T>,
): Promise<T> {
  // Paths can be copied without a project, but its `expireIn` applies to them too.
  const config = await configFor(folder, configFile, [from, to]);
  const target = to ?? (config?.copy?.to === undefined ? "database" : "copy.to");
  const source = from ?? "copy.from";
  const file = denoFile(folder, config, source);
  const fromKv = file ?? (await withoutNewDatabases(() => openPlace(folder, config, source)));
  try {
    const toKv = await openPlace(folder, config, target);
    try {
      return await use({ from: fromKv, to: toKv, expireIn: config?.copy?.expireIn });
    } finally {
      await toKv.close();
    }
  } finally {
    if (typeof fromKv !== "string") await fromKv.close();
  }
}
