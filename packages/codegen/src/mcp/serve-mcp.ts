import { setTimeout as sleep } from "node:timers/promises";
import { InvalidArgumentError } from "@keywright/orm";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { McpOptions } from "./mcp-options.js";
import { databaseTools } from "./tools/database-tools.js";
import { parsedInput } from "./tools/parsed-input.js";
import { readTools } from "./tools/read-tools.js";
import { type Tool, toolInfo } from "./tools/tool.js";
import { writeTools } from "./tools/write-tools.js";
import { jsonOf } from "./values/json-of.js";

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
Every query needs an index. Call models first, and explain to see if an index serves a query. An error has a
code, a message and a remedy: do what the remedy says. For more about a topic or a code, run
\`npx keywright docs <topic>\` in the project.`;

/**
 * Serves a database to a client of the Model Context Protocol over two streams. Each call opens the
 * database. A call returns `{ result }`, and a failed one `{ error }` with what `describeError` says.
 */
export async function serveMcp(options: McpOptions): Promise<McpServer> {
  const { stdin, stdout, version, allowWrites = false } = options;
  const tools: readonly Tool[] = [
    ...readTools,
    ...databaseTools,
    ...(allowWrites ? writeTools : []),
  ];
  const server = new Server(
    { name: "keywright", version },
    { capabilities: { tools: {} }, instructions },
  );
  const running = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toolInfo) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const either = AbortSignal.any([signal, stopping.signal]);
    const call = answer(options, tools, params, either);
    running.add(call);
    return await call.finally(() => running.delete(call));
  });
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
    stdin.once("end", resolve).once("close", resolve);
  });
  await server.connect(new StdioServerTransport(stdin, stdout));
  return {
    ended,
    close: async () => {
      stopping.abort(new Error("The server ends."));
      const waiting = new AbortController();
      const limit = sleep(maxCloseMs, undefined, { signal: waiting.signal }).catch(() => undefined);
      await Promise.race([Promise.allSettled(running), limit]);
      waiting.abort();
      await server.close();
    },
  };
}

async function answer(
  { withDatabase, describeError }: McpOptions,
  tools: readonly Tool[],
  { name, arguments: input }: CallToolRequest["params"],
  signal: AbortSignal,
): Promise<CallToolResult> {
  try {
    const tool = namedTool(tools, name);
    const parsed = parsedInput(tool, input);
    const result = await withDatabase(async (open) => {
      // The client may have cancelled the call while others had the database open.
      signal.throwIfAborted();
      return await tool.run(open, parsed, signal);
    });
    const content = { result: jsonOf(result) };
    return resultOf(content, withinSize(JSON.stringify(content)), false);
  } catch (error) {
    const content = { error: describeError(error) };
    return resultOf(content, JSON.stringify(content), true);
  }
}

/** The text is for clients that do not read structured results. */
function resultOf(
  structuredContent: Record<string, unknown>,
  text: string,
  isError: boolean,
): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent, isError };
}

function namedTool(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const known = tools.map((each) => each.name).join(", ");
  throw new InvalidArgumentError("", "name", `there is no tool ${name}; the tools are ${known}`);
}

/** The maximum length of a result, in UTF-16 code units. More would fill the memory of an agent. */
const maxLength = 200_000;

function withinSize(text: string): string {
  if (text.length <= maxLength) return text;
  const reason = `the result has ${text.length} characters, and at most ${maxLength} are returned; ask for fewer rows, or for some of the fields`;
  throw new InvalidArgumentError("", "take", reason);
}
