import { beforeEach, inject } from "vitest";

/** The tests that assume something about memory, by file and name, with the reason. */
const reasons = inject("assumptions");

beforeEach(({ task, skip }) => {
  const file = task.file.name.replace(/^test\/|\.test\.ts$/g, "");
  const reason = reasons[`${file}: ${task.name}`];
  if (reason !== undefined) skip(reason);
});
