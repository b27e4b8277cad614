import { InvalidArgumentError } from "@keywright/orm";
import type * as z from "zod";
import type { Tool } from "./tool.js";

/**
 * Checks the arguments of a call.
 *
 * @throws {InvalidArgumentError} that names the first argument that is not valid.
 */
export function parsedInput({ name, input }: Tool, given: unknown = {}): z.infer<Tool["input"]> {
  const { data, error } = input.safeParse(given);
  if (error === undefined) return data;
  const [issue] = error.issues;
  const argument = issue?.path.map(String).join(".") || "arguments";
  throw new InvalidArgumentError("", argument, issue?.message ?? "it has another form", name);
}
