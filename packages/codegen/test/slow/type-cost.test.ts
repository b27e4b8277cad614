import { afterEach, beforeEach, expect, it } from "vitest";
import { cachingHost, checkTypes } from "../../bench/types/check-types.js";
import { readFiles, writeFiles } from "../../bench/types/files.js";
import {
  configuration,
  generatedProgram,
  inferredProgram,
  modelFiles,
} from "../../bench/types/keywright-program.js";
import type { Program } from "../../bench/types/program.js";
import { createProject, type Project } from "../project.js";

const host = cachingHost();
let project: Project;

beforeEach(async () => {
  project = await createProject(configuration);
});
afterEach(() => project.remove());

/** The files of a program that is written below a folder of the project. */
async function written(folder: string, { models, database, queries }: Program) {
  const at = project.path(folder);
  const [modelPaths, databasePaths, queryPaths] = [
    await writeFiles(at, models),
    await writeFiles(at, database),
    await writeFiles(at, queries),
  ];
  return {
    whole: [...modelPaths, ...databasePaths, ...queryPaths],
    oneFile: queryPaths[0]!,
  };
}

function instantiations(paths: readonly string[], only?: string): number {
  const { problems, instantiations } = checkTypes(paths, only, host);
  expect(problems).toEqual([]);
  return instantiations;
}

/** The programs of so many models, written in each way. */
async function programs(count: number) {
  await writeFiles(project.folder, modelFiles(count));
  expect(await project.run(["generate"])).toMatchObject({ exitCode: 0 });
  const files = await readFiles(project.folder, "db");
  return {
    generated: await written(`generated-${count}`, generatedProgram(count, files)),
    inferred: await written(`inferred-${count}`, inferredProgram(count)),
  };
}

// The inferred types cost less than Drizzle's: packages/orm/test/type-budget.test.ts.
it("a model more with its queries costs a third of what inferred types cost, and less than Prisma's", async () => {
  const few = await programs(5);
  const many = await programs(15);
  const each = (what: keyof typeof few) =>
    Math.round((instantiations(many[what].whole) - instantiations(few[what].whole)) / 10);
  const ofOne = { generated: each("generated"), inferred: each("inferred") };
  // What an editor does when it opens a file. No model is looked at for one that uses generated
  // types.
  const ofOneFile = {
    generated: instantiations(many.generated.whole, many.generated.oneFile),
    inferred: instantiations(many.inferred.whole, many.inferred.oneFile),
  };
  console.table({ ofOne, ofOneFile });
  expect(ofOne.generated).toBeLessThanOrEqual(ofOne.inferred / 3);
  // What `npm run bench:types` measures of Prisma, whose compiler is not installed here: 458,223
  // for 200 models.
  expect(ofOne.generated).toBeLessThanOrEqual(2_291);
  expect(ofOneFile.generated).toBeLessThanOrEqual(ofOneFile.inferred / 100);
}, 120_000);
