import { assertDistinctPrefixes } from "@keywright/orm/codegen";
import { type InferredFields, inferredFields } from "../infer/inferred-fields.js";
import { type LoadedConfig, loadConfig } from "../project/config/load-config.js";
import { generatedText } from "../project/files/generated-text.js";
import { relativePath } from "../project/files/paths.js";
import { assertLinked } from "../project/models/assert-linked.js";
import { findModels } from "../project/models/find-models.js";
import { type NamedModel, nameModels } from "../project/models/model-names.js";
import { indexFile } from "./index-file.js";
import { compareLockFile } from "./lock-file.js";
import { modelFile } from "./model-file.js";
import { compareOutput, type OutputFile, writeOutput } from "./output-folder.js";

export interface GenerateOptions {
  /** The folder that contains the configuration, or that `config` is relative to. */
  readonly folder: string;
  readonly config?: string | undefined;
  /** Only compares the files. Nothing is written. */
  readonly check?: boolean | undefined;
}

export interface GenerateResult {
  readonly models: number;
  /** Every generated file and the lock file, each with the state in which it was found. */
  readonly files: readonly OutputFile[];
  /**
   * The absolute paths of the model modules whose types could not be read. Brands and similar types
   * of these models are written as plain types.
   */
  readonly unread: readonly string[];
  /** The absolute paths of the modules that a pattern matches and that export no model. */
  readonly withoutModel: readonly string[];
}

/**
 * Generates the files of a project's models: one file for each model, `index.ts`, and
 * `keywright.lock.json`. All texts are created before the first file is written.
 *
 * @throws {CodegenError} if the configuration, the models or the output folder are invalid.
 * @throws {ModelDefinitionError} if two models or indexes would store their entries in the same
 * place.
 * @throws {RelationInvalidError} if a relation does not lead to one of the models through an index.
 */
export async function generate(options: GenerateOptions): Promise<GenerateResult> {
  const config = await loadConfig(options.folder, options.config);
  const withoutModel: string[] = [];
  const models = nameModels(await findModels(config, withoutModel));
  assertDistinctPrefixes(models.map(({ model }) => model));
  assertLinked(models);
  const inferred = await inferredFields(models, config.output);
  const texts = await generateTexts(models, config, inferred);
  const compiled = models.map(({ model }) => model);
  const files = [
    ...(await compareOutput(config.output, texts)),
    await compareLockFile(config.path, compiled),
  ];
  if (options.check !== true) await writeOutput(files);
  return { models: models.length, files, unread: inferred.unread, withoutModel };
}

/** Returns the text of each generated file, by the name of the file. */
async function generateTexts(
  models: readonly NamedModel[],
  { path: configPath, output: folder, importExtension }: LoadedConfig,
  inferred: InferredFields,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const types = new Map<NamedModel, readonly string[]>();
  const extension = importExtension ?? inferred.importExtension;
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
