import { assertDistinctPrefixes } from "@keywright/orm";
import { findModels } from "./find-models.js";
import { generatedText } from "./generated-text.js";
import { indexFile } from "./index-file.js";
import { loadConfig } from "./load-config.js";
import { compareLockFile } from "./lock-file.js";
import { modelFile } from "./model-file.js";
import { type NamedModel, nameModels } from "./model-names.js";
import { compareOutput, type OutputFile, writeOutput } from "./output-folder.js";
import { relativePath } from "./paths.js";

export interface GenerateOptions {
  /** The folder of the configuration, or that to which `config` is relative. */
  readonly folder: string;
  readonly config?: string | undefined;
  /** Only compares: nothing is written. */
  readonly check?: boolean | undefined;
}

export interface GenerateResult {
  /** How many models there are. */
  readonly models: number;
  /** Every generated file and the lock file, as they were found. */
  readonly files: readonly OutputFile[];
}

/**
 * Generates the files of a project's models: one for each, an index, and `keywright.lock.json`. All of them are made before
 * the first is written.
 *
 * @throws {CodegenError} for what is wrong with the configuration, the models or the output folder.
 * @throws {ModelDefinitionError} where two models or indexes would store their entries in the same place.
 */
export async function generate(options: GenerateOptions): Promise<GenerateResult> {
  const config = await loadConfig(options.folder, options.config);
  const models = nameModels(await findModels(config));
  assertDistinctPrefixes(models.map(({ model }) => model));
  const texts = await generateTexts(models, config.path, config.output);
  const compiled = models.map(({ model }) => model);
  const files = [
    ...(await compareOutput(config.output, texts)),
    await compareLockFile(config.path, compiled),
  ];
  if (options.check !== true) await writeOutput(config.output, files);
  return { models: models.length, files };
}

/** The text of each file by its name. */
async function generateTexts(
  models: readonly NamedModel[],
  configPath: string,
  folder: string,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const types = new Map<NamedModel, readonly string[]>();
  for (const model of models) {
    const file = modelFile(model, folder, models);
    types.set(model, file.types);
    const source = relativePath(folder, model.modulePath);
    texts.set(`${model.names.file}.ts`, await generatedText(source, file.body));
  }
  const index = indexFile(models, folder, (model) => types.get(model) ?? []);
  texts.set("index.ts", await generatedText(relativePath(folder, configPath), index));
  return texts;
}
