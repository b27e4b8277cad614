import { beforeEach, inject } from "vitest";

/** Why tests are skipped, by `file`, or by `file: name` for one test. */
const reasons = inject("assumptions");

beforeEach(({ task, skip }) => {
  const file = task.file.name.replace(/^test\/(slow\/)?|\.test\.ts$/g, "");
  const reason = reasons[file] ?? reasons[`${file}: ${task.name}`];
  if (reason !== undefined) skip(reason);
});
