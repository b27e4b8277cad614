import * as z from "zod";
import type { OpenDatabase } from "../source/open-database.js";

/** A tool that clients can call. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** What it does, and the shape of what it returns. */
  readonly description: string;
  readonly input: Input;
  /** What a call may do to rows. Tools with `"none"` get a database that refuses writes. */
  readonly effect: "none" | "adds" | "changes";
  /** What to do to get the rest of a result that is too long for an answer. */
  readonly rest: string;
  /** Stops at the next batch if the signal is aborted. */
  run(open: OpenDatabase, input: z.infer<Input>, signal: AbortSignal): Promise<unknown>;
}

/** Returns a tool whose `run` gets what its `input` describes. */
export function defineTool<const Input extends z.ZodObject>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}

/** A tool as the protocol describes it. */
export interface ToolInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [name: string]: unknown };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** Describes a tool as the protocol does. */
export function toolInfo({ name, title, description, input, effect }: Tool): ToolInfo {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as ToolInfo["inputSchema"],
    annotations: {
      readOnlyHint: effect === "none",
      destructiveHint: effect === "changes",
      openWorldHint: false,
    },
  };
}
