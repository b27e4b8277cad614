import type { FailedRow } from "@keywright/orm";
import { shownText } from "./shown-value.js";

/** So many of the things that are wrong with a row are named. */
const mostIssues = 3;

/** Why a row could not be changed, or a document not adopted: the reason, and what its schema finds wrong where the reason does not say it. */
export function failureText({ reason, issues }: Pick<FailedRow, "reason" | "issues">): string {
  const unsaid = issues.filter(({ message }) => !reason.includes(message)).slice(0, mostIssues);
  const found = unsaid.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
  return shownText([reason, ...found].join(" "));
}
