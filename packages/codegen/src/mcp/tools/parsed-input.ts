import { InvalidArgumentError } from "@keywright/orm";
import { nearestName } from "@keywright/orm/codegen";
import type * as z from "zod";
import type { Tool } from "./tool.js";

/** How many wrong arguments one error names. */
const maxIssues = 5;

/**
 * Checks the arguments of a call.
 *
 * @throws {InvalidArgumentError} that names the arguments that are not valid.
 */
export function parsedInput({ name, input }: Tool, given: unknown = {}): z.infer<Tool["input"]> {
  const { data, error } = input.safeParse(given);
  if (error === undefined) return data;
  const known = Object.keys(input.shape);
  const reasons = error.issues.slice(0, maxIssues).map((issue) => reasonOf(issue, known));
  const [first, ...others] = reasons;
  const { argument, reason } = first!;
  const more = others.map((other) => `; ${other.argument}: ${other.reason}`).join("");
  throw new InvalidArgumentError("", argument, `${reason}${more}`, name);
}

function reasonOf(
  issue: z.core.$ZodIssue,
  known: readonly string[],
): { readonly argument: string; readonly reason: string } {
  const path = issue.path.map(String).join(".");
  if (issue.code !== "unrecognized_keys" || path !== "")
    return { argument: path || "arguments", reason: issue.message };
  const [unknown = ""] = issue.keys;
  const nearest = nearestName(unknown, known);
  const advice =
    nearest === undefined ? `the arguments are ${known.join(", ")}` : `did you mean ${nearest}?`;
  return { argument: unknown, reason: `there is no such argument; ${advice}` };
}
