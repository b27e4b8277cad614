import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseModeError, type KvLike, openKv } from "@keywright/core";
import { Command } from "commander";
import { importPackage, openPath } from "../../project/open-path.js";
import { loadDatabaseConfig, withExisting, withKv } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { allowServing, serveUntilStopped } from "../terminal/process/serving.js";
import { port, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText } from "../terminal/text/wrap.js";

interface ServeCommandOptions {
  readonly config?: string;
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly hosts?: string[];
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly metrics?: boolean;
}

/** What the command uses of `@keywright/server`. */
interface ServerModule {
  serve(kv: KvLike, options: object): Promise<{ readonly url: string; close(): Promise<void> }>;
}

const serverPackage = "@keywright/server";

const help = helpText(`
Serves the database of the project over HTTP, until Ctrl-C or SIGTERM. With an argument, it serves
the database in that folder, and needs no configuration and no models. It needs the package
@keywright/server. Deno.openKv(url) and @deno/kv open it if it was created with compat: "deno", and
openKv(url) of @keywright/core in any case.

Clients need a token. Set it in the environment: KEYWRIGHT_TOKEN allows reading and writing, and
KEYWRIGHT_READ_TOKEN only reading. Each has at least 16 characters.

Examples:
  $ KEYWRIGHT_TOKEN=... keywright serve
  $ keywright serve ./data --public-url https://kv.example.com
  $ keywright serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem

Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage.`);

export function serveCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("serve").description("serve the database to Deno KV clients and other machines"),
  )
    .argument("[database]", "a folder instead of the database of the configuration")
    .option("--port <n>", "listen on this port; 0 takes any that is free", port, 4512)
    .option("--host <address>", "listen on this address", "127.0.0.1")
    .option("--path <path>", "the path of the URL", "/")
    .option("--hosts <name...>", "answer only to these host names")
    .option("--public-url <url>", "the URL that clients open, if it is that of a proxy")
    .option("--tls-cert <file>", "the certificate, in PEM format")
    .option("--tls-key <file>", "the key of the certificate, in PEM format")
    .option("--metrics", "answer /metrics in the format of Prometheus")
    .addHelpText("after", help)
    .action(async (place: string | undefined, options: ServeCommandOptions, command: Command) => {
      // With one of them alone, the server would answer without TLS.
      if ((options.tlsCert === undefined) !== (options.tlsKey === undefined))
        command.error("error: --tls-cert and --tls-key need each other");
      const { serve } = await importPackage<ServerModule>(terminal.folder, serverPackage);
      const { KEYWRIGHT_TOKEN: token, KEYWRIGHT_READ_TOKEN: readToken } = process.env;
      if (!token && !readToken)
        command.error(
          "error: clients need a token: set KEYWRIGHT_TOKEN, or KEYWRIGHT_READ_TOKEN for those that only read, to at least 16 characters",
        );
      // Unlike other commands, this one stays, so programs may attach to it.
      allowServing(true);
      const run = async (kv: KvLike) => {
        const server = await serve(kv, serveOptions(terminal.folder, options));
        await serveUntilStopped(terminal, `Serving ${server.url}`, server);
      };
      if (place === undefined)
        await withKv(await loadDatabaseConfig(terminal.folder, options.config), run);
      else await withExisting(() => openPlace(terminal.folder, place), run);
      exit(exitCodes.done);
    });
}

/** A database remembers whether it was created for clients of Deno. */
async function openPlace(folder: string, place: string): Promise<KvLike> {
  try {
    return await openPath(folder, place);
  } catch (error) {
    if (!(error instanceof DatabaseModeError && error.mode === "deno")) throw error;
    return await openKv(resolve(folder, place), { compat: "deno" });
  }
}

function serveOptions(folder: string, options: ServeCommandOptions): object {
  const { port: number, host, path, hosts, publicUrl, tlsCert, tlsKey, metrics = false } = options;
  const { KEYWRIGHT_TOKEN: token, KEYWRIGHT_READ_TOKEN: readToken } = process.env;
  const read = (file: string) => readFileSync(resolve(folder, file));
  const hasTls = tlsCert !== undefined && tlsKey !== undefined;
  return {
    port: number,
    host,
    path,
    metrics,
    hosts,
    publicUrl,
    tokens: [
      ...(token ? [token] : []),
      ...(readToken ? [{ token: readToken, access: "read" }] : []),
    ],
    ...(hasTls && { tls: { cert: read(tlsCert), key: read(tlsKey) } }),
  };
}
