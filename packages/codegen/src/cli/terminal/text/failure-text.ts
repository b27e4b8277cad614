import type { FailedRow } from "@keywright/orm/migrate";
import { shownText } from "./shown-value.js";

const maxIssues = 3;

/** Returns the reason, followed by the issues of the schema that it does not contain. */
export function failureText({ reason, issues }: Pick<FailedRow, "reason" | "issues">): string {
  const unsaid = issues.filter(({ message }) => !reason.includes(message)).slice(0, maxIssues);
  const texts = unsaid.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
  return shownText([reason, ...texts].join(" "));
}
