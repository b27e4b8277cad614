import { JobPayloadError } from "../../errors/job-errors.js";
import { parse } from "../../write/input/parse.js";
import type { CompiledJob } from "../define/define-job.js";

/**
 * Returns the output of the schema of a job for a payload.
 *
 * @throws {JobPayloadError} if the schema rejects it. The error names the field.
 */
export async function parsePayload(
  { name, schema }: Pick<CompiledJob, "name" | "schema">,
  payload: unknown,
): Promise<unknown> {
  const parsed = await parse(schema, payload);
  if (parsed.success) return parsed.data;
  throw new JobPayloadError(name, parsed.error, schema);
}
