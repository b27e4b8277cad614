import type { KvLike } from "@keywright/core";
import { Command } from "commander";
import type { McpOptions } from "../../mcp/mcp-options.js";
import { openWithToken } from "../../project/open-path.js";
import { loadProject, openModels, withExisting, withKv } from "../../project/open-project.js";
import { errorReport } from "../terminal/error-report.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { aborted, interruptible } from "../terminal/process/interruptible.js";
import { reportError } from "../terminal/report-error.js";
import { positiveInteger, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText } from "../terminal/text/wrap.js";
import { versionOf } from "../terminal/version.js";
import { safeReport } from "../terminal/write-json.js";

interface McpCommandOptions {
  readonly config?: string;
  readonly allowWrites?: boolean;
  readonly timeout: number;
}

/** Less than the 60 seconds after which most clients give up, so that they get the error. */
const defaultTimeout = 50;

/** Errors of the project's code that no call waits for. The server survives them. */
const strayErrors = ["uncaughtException", "unhandledRejection"] as const;

const help = helpText(`
Serves the models and the database of the project to coding agents: it speaks the Model Context Protocol on
standard input and output, until the client ends it. Enter it in the settings of the agent as the command
\`npx keywright mcp\`.

The tools are models, explain, find, search, count, verify and migration_plan. They write nothing into the
database. With --allow-writes, there are also create, update and delete, which follow the rules of the models.

With an argument, it opens the database at a path or URL with the models of the configuration. Each call
reads the models again, and opens the database for the time of the call. If a program has the database open,
the call goes through the program.

Examples:
  $ keywright mcp
  $ keywright mcp --allow-writes
  $ KEYWRIGHT_TOKEN=... keywright mcp http://localhost:4512

Exit codes: 0 ended by the client or a signal, 1 failed, 2 wrong usage.`);

export function mcpCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("mcp")
      .description("serve the models and the database to coding agents")
      .argument("[database]", "a path or URL instead of the database of the configuration")
      .option("--allow-writes", "let agents create, update and delete rows")
      .option("--timeout <seconds>", "end a call after this time", positiveInteger, defaultTimeout),
  )
    .addHelpText("after", help)
    .action(async (place: string | undefined, options: McpCommandOptions) => {
      const { config, allowWrites = false, timeout } = options;
      // Other commands start faster without it.
      const { serveMcp } = await import("../../mcp/serve-mcp.js");
      const { stdin, stdout } = terminal;
      const server = serveMcp({
        withDatabase: opener(terminal.folder, place, config),
        describeError: (error) => safeReport(errorReport(error, true)),
        version: versionOf(),
        allowWrites,
        timeout: timeout * 1000,
        stdin,
        stdout,
      });
      const serve = (signal: AbortSignal) => Promise.race([server.ended, aborted(signal)]);
      const report = (error: unknown) => reportError(error, { ...terminal, isJson: false });
      for (const event of strayErrors) process.on(event, report);
      try {
        await interruptible(terminal, serve, "Answering what has begun.");
        await server.close();
      } finally {
        for (const event of strayErrors) process.off(event, report);
      }
      exit(exitCodes.done);
    });
}

/**
 * Returns a function that opens the database for one call. Projects are loaded and opened one at a
 * time, because loading forgets the modules that were loaded before. A call that has ended does not
 * hold up the others, even if its database never opens.
 */
function opener(
  folder: string,
  place: string | undefined,
  config: string | undefined,
): McpOptions["withDatabase"] {
  let opened: Promise<void> = Promise.resolve();
  return async (use, { readOnly, signal }) => {
    const before = opened;
    let release = () => {};
    const own = new Promise<void>((resolve) => {
      release = resolve;
    });
    opened = before.then(() => own);
    signal.addEventListener("abort", release, { once: true });
    try {
      await before;
      signal.throwIfAborted();
      const project = await loadProject(folder, config);
      signal.throwIfAborted();
      const run = async (kv: KvLike) => {
        signal.throwIfAborted();
        const database = await openModels(project, kv, { readOnly });
        release();
        const models = project.models.map(({ names, model }) => {
          return { property: names.property, model };
        });
        return await use({ database, models });
      };
      if (place === undefined) return await withKv(project.config, run);
      return await withExisting(() => openWithToken(folder, place), run);
    } finally {
      release();
    }
  };
}
