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

const count = 20;
const host = cachingHost();
let project: Project;

beforeEach(async () => {
  project = await createProject({ ...configuration, ...modelFiles(count) });
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

it("20 models with queries: generated types cost a third of inferred ones on top of the models, and less than Drizzle's", async () => {
  expect(await project.run(["generate"])).toMatchObject({ exitCode: 0 });
  const files = await readFiles(project.folder, "db");
  const generated = await written("generated", generatedProgram(count, files));
  const inferred = await written("inferred", inferredProgram(count));
  const drizzle = await written("drizzle", drizzleProgram(count));
  const models = instantiations(inferred.models);
  const whole = {
    generated: instantiations(generated.whole),
    inferred: instantiations(inferred.whole),
    drizzle: instantiations(drizzle.whole),
  };
  // What an editor does when it opens a file. No model is looked at for one that uses generated types.
  const oneFile = {
    generated: instantiations(generated.whole, generated.oneFile),
    inferred: instantiations(inferred.whole, inferred.oneFile),
  };
  console.table({ models: { inferred: models }, whole, oneFile });
  expect(whole.generated - models).toBeLessThanOrEqual((whole.inferred - models) / 3);
  expect(whole.generated).toBeLessThanOrEqual(whole.drizzle);
  expect(oneFile.generated).toBeLessThanOrEqual(oneFile.inferred / 100);
}, 120_000);
