import type { KvLike } from "@keywright/core";
import type { Database, Models } from "@keywright/orm";
import {
  type AdoptedModel,
  type AdoptOptions,
  type AdoptProgress,
  type AdoptResult,
  adopt,
  type BrokenEntry,
  type SourceKv,
} from "@keywright/orm/adopt";
import { Command } from "commander";
import { AdoptUnsetError } from "../../errors/codegen-errors.js";
import { units } from "../../progress/progress-text.js";
import { reporterFor } from "../../progress/reporter-for.js";
import type { AdoptConfig } from "../../project/config/config.js";
import type { LoadedConfig } from "../../project/config/load-config.js";
import {
  loadDatabaseConfig,
  type OpenProject,
  openSource,
  withProject,
} from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type RunCommandOptions, withRunOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, moreLine, shownNumber } from "../terminal/text/counted.js";
import { failureText } from "../terminal/text/failure-text.js";
import { shownId } from "../terminal/text/shown-value.js";
import { commandLine, helpText, writeText } from "../terminal/text/wrap.js";
import { withProgress } from "../terminal/with-progress.js";
import { writeJson } from "../terminal/write-json.js";

const help = helpText(`
Reads data that was written by hand, by kvdex or by pentagon, and creates rows from it.
keywright.config.ts says where the data is and how it is stored:
  import { defineConfig } from "@keywright/codegen";
  import { openKv } from "@keywright/core";
  import { kvdexLayout } from "@keywright/orm/adopt";

  export default defineConfig({
    models: "src/models/*.ts",
    output: "src/db",
    database: () => openKv("data/app"),
    adopt: {
      from: () => openKv("data/old"),
      models: { users: kvdexLayout({ version: 4, collection: "users" }) },
    },
  });

The source is only read, and existing rows are never overwritten. A row that was adopted and deleted
since is not created again. To continue a run that was stopped,
or to try documents again that failed, run the command again.

Examples:
  $ keywright adopt --dry-run   report what would be created
  $ keywright adopt             create the rows

Exit codes: 0 done; 1 failed, stopped, or some documents did not become rows; 2 wrong usage.`);

interface AdoptCommandOptions extends RunCommandOptions {
  readonly dryRun?: boolean;
  readonly restoreDeleted?: boolean;
}

export function adoptCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withRunOptions(
    new Command("adopt")
      .description("create rows from data that another program or library wrote")
      .option("--dry-run", "report what would be created, and write nothing")
      .option("--restore-deleted", "create rows again that were adopted and deleted since"),
  )
    .addHelpText("after", help)
    .action(async (options: AdoptCommandOptions) => {
      const { folder } = terminal;
      const ifMissing = options.dryRun ? "empty" : "create";
      const config = await loadDatabaseConfig(folder, options.config, ifMissing);
      const result = await withSource(config, async (source) =>
        withProject(
          folder,
          options.config,
          async (project) => runAdopt(terminal, project, source ?? project.kv, options),
          // Without a separate source, the documents are in the database itself, so it must exist.
          source === undefined ? "fail" : ifMissing,
        ),
      );
      if (options.json) writeJson(terminal, result);
      else {
        const text = adoptText(terminal, result, options.dryRun === true);
        writeText(terminal.stdout, text);
      }
      exit(result.status === "done" ? exitCodes.done : exitCodes.failed);
    });
}

function adoptConfigOf({ path, adopt }: LoadedConfig): AdoptConfig {
  if (adopt === undefined) throw new AdoptUnsetError({ path });
  return adopt;
}

/** Passes undefined to `use` if the source is the project's own database. */
async function withSource<T>(
  config: LoadedConfig,
  use: (source: SourceKv | undefined) => Promise<T>,
): Promise<T> {
  const { from } = adoptConfigOf(config);
  if (from === undefined) return await use(undefined);
  const source = await openSource(config, from);
  try {
    return await use(source);
  } finally {
    if (isClosable(source)) await source.close();
  }
}

function isClosable(source: SourceKv): source is SourceKv & Pick<KvLike, "close"> {
  return "close" in source && typeof source.close === "function";
}

async function runAdopt(
  terminal: Terminal,
  { config, database }: OpenProject,
  from: SourceKv,
  { dryRun = false, restoreDeleted = false, wait, rowsPerSecond }: AdoptCommandOptions,
): Promise<AdoptResult> {
  const progress = reporterFor(terminal.stderr, (now: AdoptProgress) => {
    return { ...now, unit: now.phase === "rows" ? units.documents : units.entries };
  });
  return await withProgress(terminal, progress, (shown) =>
    adopt(database as Database<Models>, {
      from,
      // `adopt` checks that these are models of the database.
      models: adoptConfigOf(config).models as AdoptOptions<Models>["models"],
      dryRun,
      restoreDeleted,
      wait,
      ...shown,
      ...(rowsPerSecond !== undefined && { rowsPerSecond }),
    }),
  );
}

const maxShown = 10;

function adoptText(terminal: Terminal, { status, models }: AdoptResult, isDryRun: boolean): string {
  const blocks = models.flatMap((model) => modelLines(model, isDryRun));
  return [...blocks, endText(terminal, status, isDryRun)].join("\n");
}

function modelLines(adopted: AdoptedModel, isDryRun: boolean): string[] {
  const { model, status, rows, failedCount, failed, brokenCount, brokenEntries } = adopted;
  if (status === "todo") return [`${model}  not started`];
  const counts = [
    `${counted(adopted.adopted, "row")} ${isDryRun ? "to adopt" : "adopted"}`,
    `${counted(adopted.skipped, "row")} ${adopted.skipped === 1 ? "exists" : "exist"} already`,
    ...(adopted.deleted > 0 ? [`${shownNumber(adopted.deleted)} deleted since`] : []),
    `${shownNumber(failedCount)} failed`,
  ];
  return [
    `${model}  ${counted(rows, "document")}: ${counts.join(", ")}${status === "stopped" ? "; stopped" : ""}`,
    ...failed.slice(0, maxShown).map((row) => `  failed  ${shownId(row.id)}  ${failureText(row)}`),
    ...moreLine(failedCount - maxShown),
    ...(brokenCount > 0
      ? [`  ${counted(brokenCount, "index entry is", "index entries are")} broken in the source:`]
      : []),
    ...brokenEntries.slice(0, maxShown).map(brokenLine),
    ...moreLine(brokenCount - maxShown),
    ...adopted.leftBehind.map(({ kind, count }) => `  not adopted  ${kind}: ${shownNumber(count)}`),
  ];
}

function brokenLine({ kind, key, id }: BrokenEntry): string {
  return `  ${kind}  ${shownId(key)}${id === undefined ? "" : `  document ${shownId(id)}`}`;
}

function endText({ stdout }: Terminal, status: AdoptResult["status"], isDryRun: boolean): string {
  switch (status) {
    case "done":
      return isDryRun
        ? "Nothing was written."
        : `${styled(stdout, "green", "Done.")} To check the indexes:\n${commandLine("verify")}`;
    case "failed-rows":
      return `${styled(stdout, "yellow", isDryRun ? "Nothing was written." : "Not complete.")} Correct the documents, the schema or \`map\`${isDryRun ? "." : ". Then run the command again, which tries the failed documents again."}`;
    case "stopped":
      return isDryRun
        ? "Stopped. Nothing was written."
        : `${styled(stdout, "yellow", "Stopped.")} What was done stays. To continue:\n${commandLine("adopt")}`;
    case "busy":
      return `${styled(stdout, "yellow", "Nothing was done.")} Another run is active. To see it:\n${commandLine("migrate status")}`;
  }
}
