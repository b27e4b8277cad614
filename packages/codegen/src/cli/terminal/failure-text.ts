import type { FailedRow } from "@keywright/orm";
import { shownText } from "./shown-value.js";

const maxIssues = 3;

/**
 * Returns why a row could not be changed or a document not adopted: the reason, followed by the
 * schema's issues that the reason does not contain.
 */
export function failureText({ reason, issues }: Pick<FailedRow, "reason" | "issues">): string {
  const unsaid = issues.filter(({ message }) => !reason.includes(message)).slice(0, maxIssues);
  const texts = unsaid.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
  return shownText([reason, ...texts].join(" "));
}
