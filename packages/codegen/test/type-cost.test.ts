import { afterEach, beforeEach, expect, it } from "vitest";
import { cachingHost, checkTypes } from "../bench/types/check-types.js";
import { drizzleProgram } from "../bench/types/drizzle-program.js";
import { readFiles, writeFiles } from "../bench/types/files.js";
import {
  configuration,
  generatedProgram,
  inferredProgram,
  modelFiles,
} from "../bench/types/keywright-program.js";
import type { Program } from "../bench/types/program.js";
import { createProject, type Project } from "./project.js";

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
    models: modelPaths,
    whole: [...modelPaths, ...databasePaths, ...queryPaths],
    oneFile: queryPaths[0]!,
  };
}

function instantiations(paths: readonly string[], only?: string): number {
  const { problems, instantiations } = checkTypes(paths, only, host);
  expect(problems).toEqual([]);
  return instantiations;
}

/** What a program of so many models costs, written in each way. */
async function costs(count: number) {
  await writeFiles(project.folder, modelFiles(count));
  expect(await project.run(["generate"])).toMatchObject({ exitCode: 0 });
  const files = await readFiles(project.folder, "db");
  const generated = await written(`generated-${count}`, generatedProgram(count, files));
  const inferred = await written(`inferred-${count}`, inferredProgram(count));
  const drizzle = await written(`drizzle-${count}`, drizzleProgram(count));
  return {
    models: instantiations(inferred.models),
    generated: instantiations(generated.whole),
    inferred: instantiations(inferred.whole),
    drizzle: instantiations(drizzle.whole),
    // What an editor does when it opens a file. No model is looked at for one that uses generated
    // types.
    generatedFile: instantiations(generated.whole, generated.oneFile),
    inferredFile: instantiations(inferred.whole, inferred.oneFile),
  };
}

it("a model more with its queries costs a third of what inferred types cost, and less than Prisma's and Drizzle's", async () => {
  const few = await costs(10);
  const many = await costs(30);
  const each = (what: keyof typeof few) => Math.round((many[what] - few[what]) / 20);
  const ofOne = {
    models: each("models"),
    generated: each("generated"),
    inferred: each("inferred"),
    drizzle: each("drizzle"),
  };
  console.table({ ofOne, many });
  expect(ofOne.generated).toBeLessThanOrEqual(ofOne.inferred / 3);
  expect(ofOne.generated).toBeLessThanOrEqual(ofOne.drizzle);
  // What `npm run bench:types` measures of Prisma, whose compiler is not installed here: 458,223
  // for 200 models.
  expect(ofOne.generated).toBeLessThanOrEqual(2_291);
  expect(many.generatedFile).toBeLessThanOrEqual(many.inferredFile / 100);
}, 120_000);
