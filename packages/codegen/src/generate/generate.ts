import { assertDistinctPrefixes } from "@keywright/orm";
import { type InferredFields, inferredFields } from "../infer/inferred-fields.js";
import { assertLinked } from "../project/assert-linked.js";
import { findModels } from "../project/find-models.js";
import { generatedText } from "../project/generated-text.js";
import { type LoadedConfig, loadConfig } from "../project/load-config.js";
import { type NamedModel, nameModels } from "../project/model-names.js";
import { relativePath } from "../project/paths.js";
import { importExtensionIn } from "./import-extension.js";
import { indexFile } from "./index-file.js";
import { compareLockFile } from "./lock-file.js";
import { modelFile } from "./model-file.js";
import { compareOutput, type OutputFile, writeOutput } from "./output-folder.js";

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
  /** The absolute paths of modules of models whose types could not be read: brands and the like show as plain types. */
  readonly unread: readonly string[];
}

/**
 * Generates the files of a project's models: one for each, an index, and `keywright.lock.json`. All of them are made before
 * the first is written.
 *
 * @throws {CodegenError} for what is wrong with the configuration, the models or the output folder.
 * @throws {ModelDefinitionError} where two models or indexes would store their entries in the same place.
 * @throws {RelationInvalidError} for a relation that no database could be opened with.
 */
export async function generate(options: GenerateOptions): Promise<GenerateResult> {
  const config = await loadConfig(options.folder, options.config);
  const models = nameModels(await findModels(config));
  assertDistinctPrefixes(models.map(({ model }) => model));
  assertLinked(models);
  const inferred = await inferredFields(models, config.output);
  const texts = await generateTexts(models, config, inferred);
  const compiled = models.map(({ model }) => model);
  const files = [
    ...(await compareOutput(config.output, texts)),
    await compareLockFile(config.path, compiled),
  ];
  if (options.check !== true) await writeOutput(config.output, files);
  return { models: models.length, files, unread: inferred.unread };
}

/** The text of each file by its name. */
async function generateTexts(
  models: readonly NamedModel[],
  { path: configPath, output: folder, importExtension }: LoadedConfig,
  inferred: InferredFields,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const types = new Map<NamedModel, readonly string[]>();
  const extension = importExtension ?? (await importExtensionIn(folder, models[0]?.modulePath));
  for (const model of models) {
    const file = modelFile(model, folder, models, {
      referred: inferred.references.get(model),
      computed: inferred.computed.get(model),
      extension,
    });
    types.set(model, file.types);
    const source = relativePath(folder, model.modulePath);
    texts.set(`${model.names.file}.ts`, await generatedText(source, file.body));
  }
  const index = indexFile(models, folder, (model) => types.get(model) ?? [], extension);
  texts.set("index.ts", await generatedText(relativePath(folder, configPath), index));
  return texts;
}
