import { basename } from "node:path";
import {
  type CorruptionError,
  type EmbeddedKv,
  isKeywrightError,
  type KvLike,
  openKv,
} from "@keywright/core";
import { Command } from "commander";
import { importPackage, openWithToken } from "../../project/open-path.js";
import { loadProject, type Project, withExisting, withKv } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { allowServing, serveUntilStopped } from "../terminal/process/serving.js";
import { port, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText, writeText } from "../terminal/text/wrap.js";

interface StudioCommandOptions {
  readonly config?: string;
  readonly port: number;
  readonly readOnly?: boolean;
}

/** The part of `@keywright/studio` that the command uses. */
interface StudioModule {
  startStudio(options: object): Promise<{ readonly url: string; close(): Promise<void> }>;
}

const studioPackage = "@keywright/studio";

const help = helpText(`
Serves a page that shows rows, keys, migrations and health of a database, until Ctrl-C or SIGTERM.
It needs the package @keywright/studio. Only this machine can open the page. The address works once,
in one browser.

Without an argument, it opens the database and the models of the configuration. With one, it opens
the database at a path or URL and shows its keys. With --config too, it shows the models of that
configuration on it, and registers those that are new to the database.

A running application keeps its database open: the studio then works through that process, or the
application through the studio.

If files of the database are damaged, the studio shows which, and what can still be read. It refuses
every change then.

Examples:
  $ keywright studio
  $ keywright studio --read-only
  $ keywright studio ./data
  $ KEYWRIGHT_TOKEN=... keywright studio http://localhost:4512

Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage.`);

export function studioCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("studio").description("show and edit the database in the browser"),
  )
    .argument("[database]", "a path or URL instead of the database of the configuration")
    .option("--port <n>", "listen on this port; 0 takes any that is free", port, 0)
    .option("--read-only", "refuse every change")
    .addHelpText("after", help)
    .action(async (place: string | undefined, options: StudioCommandOptions) => {
      const { startStudio } = await importPackage<StudioModule>(terminal.folder, studioPackage);
      // Unlike other commands, this one stays, so programs may attach to it.
      allowServing(true);
      const run = async (kv: KvLike, project: Project | undefined, damage?: CorruptionError) => {
        const studio = await startStudio({
          kv,
          title: place ?? basename(terminal.folder),
          port: options.port,
          readOnly: options.readOnly === true,
          ...(project && modelsOf(project)),
          ...(damage && { damage }),
        });
        await serveUntilStopped(terminal, studio.url, studio);
      };
      const { config } = options;
      const needsProject = place === undefined || config !== undefined;
      const project = needsProject ? await loadProject(terminal.folder, config) : undefined;
      let isOpen = false;
      const use = (kv: KvLike) => {
        isOpen = true;
        return run(kv, project);
      };
      try {
        if (place !== undefined)
          await withExisting(() => openWithToken(terminal.folder, place), use);
        else await withKv(project!.config, use);
      } catch (error) {
        if (isOpen) throw error;
        const { kv, damage } = await openDamaged(error);
        writeText(terminal.stderr, `${damage.message} ${readOnlyText}`);
        try {
          await run(kv, project, damage);
        } finally {
          await kv.close();
        }
      }
      exit(exitCodes.done);
    });
}

const readOnlyText = "The studio shows what can still be read, and changes nothing.";

function modelsOf({ config, models }: Project): object {
  const { migrations } = config;
  return {
    models: Object.fromEntries(models.map(({ names, definition }) => [names.property, definition])),
    ...(migrations !== undefined && { migrations }),
  };
}

/** A database whose files are damaged, opened to show what can still be read. */
interface DamagedDatabase {
  readonly kv: EmbeddedKv;
  readonly damage: CorruptionError;
}

/**
 * Opens a database that did not open because its files are damaged.
 *
 * @param error the error of opening it. It is thrown if it has another reason, or if the database
 * cannot be opened at all.
 */
async function openDamaged(error: unknown): Promise<DamagedDatabase> {
  if (!isKeywrightError(error) || error.code !== "KW_CORRUPTION") throw error;
  const damage = error as CorruptionError;
  const { path } = damage;
  if (path === undefined) throw error;
  const options = { checkFiles: false, readOnly: true } as const;
  const kv = await openKv(path, options)
    .catch(() => openKv(path, { ...options, compat: "deno" }))
    .catch(() => {
      throw error;
    });
  return { kv, damage };
}
