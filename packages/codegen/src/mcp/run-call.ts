import { InvalidArgumentError } from "@keywright/orm";
import { nearestName } from "@keywright/orm/codegen";
import { CallTimeoutError } from "../errors/command-errors.js";
import { type Answer, answerOf, errorAnswerOf } from "./answer/answer.js";
import type { McpOptions } from "./mcp-options.js";
import { parsedInput } from "./tools/parsed-input.js";
import type { Tool } from "./tools/tool.js";
import { jsonOf } from "./values/json-of.js";

/** A call as a client makes it. */
export interface ToolCall {
  readonly name: string;
  readonly arguments?: unknown;
}

type CallOptions = Pick<McpOptions, "withDatabase" | "describeError" | "timeout">;

/** A timer that is set for longer ends at once. In milliseconds. */
const longestTimer = 2 ** 31 - 1;

/**
 * Runs a call of a tool. It ends when its time is over or the signal is aborted, even if the
 * database never opens. Its work then stops at the next step, and what it returns is dropped.
 */
export async function runCall(
  options: CallOptions,
  tools: readonly Tool[],
  call: ToolCall,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const tool = namedTool(tools, call.name);
    const input = parsedInput(tool, call.arguments);
    return answerOf(jsonOf(await inTime(options, tool, input, signal)), tool.rest);
  } catch (error) {
    return errorAnswerOf(jsonOf(options.describeError(error)));
  }
}

async function inTime(
  { withDatabase, timeout }: CallOptions,
  tool: Tool,
  input: Parameters<Tool["run"]>[1],
  cancelled: AbortSignal,
): Promise<unknown> {
  let isOpen = false;
  const ending = new AbortController();
  const timer = setTimeout(
    () => {
      const given = { tool: tool.name, seconds: timeout / 1000, isOpen, writes: writes(tool) };
      ending.abort(new CallTimeoutError(given));
    },
    Math.min(timeout, longestTimer),
  );
  const signal = AbortSignal.any([cancelled, ending.signal]);
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  try {
    signal.throwIfAborted();
    const work = withDatabase(
      async (open) => {
        signal.throwIfAborted();
        isOpen = true;
        return await tool.run(open, input, signal);
      },
      { readOnly: !writes(tool), signal },
    );
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
  }
}

function writes({ effect }: Tool): boolean {
  return effect !== "none";
}

function namedTool(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const known = tools.map((each) => each.name);
  const nearest = nearestName(name, known);
  const advice =
    nearest === undefined ? `the tools are ${known.join(", ")}` : `did you mean ${nearest}?`;
  throw new InvalidArgumentError("", "name", `there is no tool ${name}; ${advice}`);
}
