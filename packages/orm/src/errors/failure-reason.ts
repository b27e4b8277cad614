import { InvalidArgumentError } from "./query-errors.js";
import { RowInvalidError, StoredRowInvalidError } from "./row-errors.js";

/** Returns the reason why a row has failed, for a report. Accepts any thrown value. */
export function failureReason(error: unknown): string {
  if (error instanceof InvalidArgumentError) return error.reason;
  if (error instanceof StoredRowInvalidError || error instanceof RowInvalidError) {
    const found = error.issues.map(
      ({ path, message }) => `${path.map(String).join(".")}: ${message}`,
    );
    const isStored = error instanceof StoredRowInvalidError;
    const place = isStored
      ? "The stored row does not fit its schema"
      : "It would not fit the schema";
    return `${place}. ${found.join("; ")}`;
  }
  return error instanceof Error ? error.message : String(error);
}
