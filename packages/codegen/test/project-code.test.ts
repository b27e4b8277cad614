import { afterEach, expect, it } from "vitest";
import { players, playersConfig, playersProject } from "./players-project.js";
import type { Project } from "./project.js";

let project: Project;

afterEach(async () => {
  await project?.remove();
});

const byTeam = '{ byTeam: { key: "team" } }';

it("what the project's own database throws is shown with its place, and without a stack", async () => {
  project = await playersProject(players(2), byTeam, {
    "keywright.config.ts": `import { wrapped } from "./wrapped.js";
export default { models: "models/*.ts", output: "db", database: wrapped };
`,
    "wrapped.ts": `import { openKv } from "@keywright/core";

export async function wrapped() {
  const kv = await openKv(new URL("./data", import.meta.url).pathname);
  kv.list = () => {
    throw new RangeError("no lists today");
  };
  return kv;
}
`,
  });
  const { exitCode, stderr } = await project.run(["verify"]);
  expect(stderr.replaceAll("\\", "/").split("\n")).toEqual([
    "error KW_PROJECT_CODE: wrapped.ts:6: the project's own code threw an error; correct this line, or what it uses, as the cause says",
    "  cause: RangeError: no lists today",
    "",
  ]);
  expect(exitCode).toBe(1);
});

it.each([
  ["() => ({ get() {}, list() {} })", "the methods getMany, atomic, close are missing."],
  ["() => null", "the methods get, getMany, list, atomic, close are missing."],
])("a database that is none is one of the configuration's faults: %s", async (database, reason) => {
  project = await playersProject(players(1), byTeam, {
    "keywright.config.ts": playersConfig().replace(/database: .*/, `database: ${database},`),
  });
  const { exitCode, stderr } = await project.run(["verify"]);
  expect(stderr).toContain("KW_DATABASE_OPEN");
  expect(stderr).toContain(`It did not return a database: ${reason}`);
  expect(exitCode).toBe(1);
});
