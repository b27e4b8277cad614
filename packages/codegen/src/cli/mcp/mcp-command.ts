import type { KvLike } from "@keywright/core";
import type { AnyDatabase } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import { Command } from "commander";
import { importPackage, openWithToken } from "../../project/open-path.js";
import { loadProject, openModels, withExisting, withKv } from "../../project/open-project.js";
import { errorReport } from "../terminal/error-report.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { aborted, interruptible } from "../terminal/process/interruptible.js";
import { reportError } from "../terminal/report-error.js";
import { withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { withoutSecrets } from "../terminal/text/without-secrets.js";
import { helpText } from "../terminal/text/wrap.js";
import { versionOf } from "../terminal/version.js";

interface McpCommandOptions {
  readonly config?: string;
  readonly allowWrites?: boolean;
}

/** A database that is open for one call of a tool. */
interface OpenDatabase {
  readonly database: AnyDatabase;
  readonly models: readonly { readonly property: string; readonly model: CompiledModel }[];
}

type WithDatabase = <T>(use: (open: OpenDatabase) => Promise<T>) => Promise<T>;

/** What the command uses of `@keywright/mcp`. */
interface McpModule {
  serveMcp(options: {
    readonly withDatabase: WithDatabase;
    readonly describeError: (error: unknown) => object;
    readonly version: string;
    readonly allowWrites: boolean;
    readonly stdin: NodeJS.ReadStream;
    readonly stdout: NodeJS.WriteStream;
  }): Promise<{ readonly ended: Promise<void>; close(): Promise<void> }>;
}

const mcpPackage = "@keywright/mcp";

/** Errors of the project's code that no call waits for. The server survives them. */
const strayErrors = ["uncaughtException", "unhandledRejection"] as const;

const help = helpText(`
Serves the models and the database of the project to coding agents: it speaks the Model Context Protocol on
standard input and output, until the client ends it. It needs the package @keywright/mcp. Enter it in the
settings of the agent as the command \`npx keywright mcp\`.

The tools are models, explain, find, count, verify and migration_plan. They change no row and no index. With
--allow-writes, there are also create, update and delete, which follow the rules of the models.

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
      .option("--allow-writes", "let agents create, update and delete rows"),
  )
    .addHelpText("after", help)
    .action(async (place: string | undefined, { config, allowWrites }: McpCommandOptions) => {
      const { serveMcp } = await importPackage<McpModule>(terminal.folder, mcpPackage);
      const { stdin, stdout } = terminal;
      const server = await serveMcp({
        withDatabase: opener(terminal.folder, place, config),
        describeError: (error) => safeReport(error),
        version: versionOf(),
        allowWrites: allowWrites === true,
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
 * time, because loading forgets the modules that were loaded before.
 */
function opener(
  folder: string,
  place: string | undefined,
  config: string | undefined,
): WithDatabase {
  let opened: Promise<void> = Promise.resolve();
  return async (use) => {
    const before = opened;
    let release = () => {};
    opened = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    try {
      const project = await loadProject(folder, config);
      const run = async (kv: KvLike) => {
        const database = await openModels(project, kv);
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

function safeReport(error: unknown): object {
  return JSON.parse(withoutSecrets(JSON.stringify(errorReport(error, true)))) as object;
}
