import { setTimeout as sleep } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Answer } from "./answer/answer.js";
import type { McpOptions } from "./mcp-options.js";
import { runCall, type ToolCall } from "./run-call.js";
import { databaseTools } from "./tools/database-tools.js";
import { readTools } from "./tools/read-tools.js";
import { type Tool, toolInfo } from "./tools/tool.js";
import { writeTools } from "./tools/write-tools.js";

/** A server that answers one client. */
export interface McpServer {
  /** Resolves when the client has closed its end. */
  readonly ended: Promise<void>;
  /** Waits for the calls that have begun, at most 5 seconds, and ends. */
  close(): Promise<void>;
}

/** A database that cannot be reached may never open. */
const maxCloseMs = 5000;

/** What clients tell their model about the server. */
const instructions = `Reads and explains a Keywright database: models over an ordered key-value store.
Every query needs an index. Call models first, and explain to see if an index serves a query. A call returns
{ result } or { error: { code, message, remedy, details } }: do what the remedy says. If an answer has
\`shortened\`, its note says how to get the rest. For more about a topic or a code, run
\`npx keywright docs <topic>\` in the project.`;

/** Serves a database to a client of the Model Context Protocol. Each call opens the database. */
export function serveMcp(options: McpOptions): McpServer {
  const { stdin, stdout, version, allowWrites } = options;
  const tools: readonly Tool[] = [
    ...readTools,
    ...databaseTools,
    ...(allowWrites ? writeTools : []),
  ];
  const running = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  const run = async (call: ToolCall, cancelled: AbortSignal) => {
    const signal = AbortSignal.any([cancelled, stopping.signal]);
    const answer = runCall(options, tools, call, signal);
    running.add(answer);
    return resultOf(await answer.finally(() => running.delete(answer)));
  };
  const serverOf = () => {
    const server = new Server(
      { name: "keywright", version },
      { capabilities: { tools: {} }, instructions },
    );
    server.setRequestHandler("tools/list", () => ({ tools: tools.map(toolInfo) }));
    server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => run(params, mcpReq.signal));
    return server;
  };
  const ended = new Promise<void>((resolve) => {
    stdin.once("end", resolve).once("close", resolve);
  });
  const handle = serveStdio(serverOf, { transport: new StdioServerTransport(stdin, stdout) });
  return {
    ended,
    close: async () => {
      stopping.abort(new Error("The server ends."));
      const waiting = new AbortController();
      const limit = sleep(maxCloseMs, undefined, { signal: waiting.signal }).catch(() => undefined);
      await Promise.race([Promise.allSettled(running), limit]);
      waiting.abort();
      await handle.close();
    },
  };
}

/** The text is for clients that do not read structured results. */
function resultOf(answer: Answer) {
  const content = [{ type: "text" as const, text: JSON.stringify(answer) }];
  return { content, structuredContent: { ...answer }, isError: "error" in answer };
}
