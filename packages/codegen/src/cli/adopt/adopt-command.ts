import type { KvLike } from "@keywright/core";
import type { Database, Models } from "@keywright/orm";
import {
  type AdoptOptions,
  type AdoptProgress,
  type AdoptResult,
  adopt,
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
import type { Terminal } from "../terminal/terminal.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { withProgress } from "../terminal/with-progress.js";
import { writeJson } from "../terminal/write-json.js";
import { adoptText } from "./adopt-text.js";

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
