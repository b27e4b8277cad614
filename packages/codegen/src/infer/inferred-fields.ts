import {
  type Compiler,
  findTsconfig,
  importExtensionOf,
  type Tsconfig,
  tsconfigsIn,
} from "../project/config/read-tsconfig.js";
import { type ImportExtension, importSpecifier } from "../project/files/paths.js";
import { importedModel, type NamedModel } from "../project/models/model-names.js";
import { textOf } from "../types/alternatives.js";
import { type ModelTypes, modelTypes } from "../types/model-types.js";
import { objectText } from "../types/object-type.js";
import type { SpelledField } from "../types/type-writer.js";
import { hasReadPackages } from "./check-program.js";
import { type Check, typeComparison } from "./check-types.js";
import { computedParts } from "./computed-parts.js";
import { FileTrace, type SeenFiles } from "./file-trace.js";
import { type KnownTypes, TypeCache } from "./type-cache.js";

/** The facts about models that only the compiler knows. */
export interface InferredFields {
  /** The references to write for types that only the compiler knows, by the model. */
  readonly references: ReadonlyMap<NamedModel, ReadonlySet<string>>;
  /** The types of computed index parts, by the model and the name of the index. */
  readonly computed: ReadonlyMap<NamedModel, ReadonlyMap<string, string>>;
  /** The absolute paths of the modules whose types could not be read. */
  readonly unread: readonly string[];
  /** The extension with which the generated files import the modules of the models. */
  readonly importExtension: ImportExtension;
}

/**
 * Finds what only the compiler knows about models: the types that functions in indexes return, and
 * the fields whose inferred type differs from the one that is spelled out from the schema at run
 * time. Such fields have brands, members of a TypeScript `enum`, or types from an annotation or a
 * cast.
 *
 * @param folder the folder of the generated files.
 */
export async function inferredFields(
  models: readonly NamedModel[],
  folder: string,
): Promise<InferredFields> {
  const questions = models.map((model) => [model.modulePath, checkOf(model, folder, new Set())]);
  const cache = await TypeCache.find(folder, [findTsconfig(folder), questions]);
  const known = await cache?.read();
  if (known !== undefined) return fieldsOf(models, known);
  // Loading the compiler takes long, and most commands do not need it.
  const { default: compiler } = await import("typescript");
  // What an earlier round of `--watch` has read is not read again, so it would be missing.
  const trace = cache === undefined || hasReadPackages() ? undefined : new FileTrace(compiler.sys);
  let seen: SeenFiles | undefined;
  let inferred: InferredFields;
  try {
    inferred = inferWith(compiler, models, folder);
  } finally {
    seen = trace?.stop();
  }
  if (seen !== undefined) await cache?.write(seen, knownTypesOf(models, inferred));
  return inferred;
}

function knownTypesOf(
  models: readonly NamedModel[],
  { references, computed, unread, importExtension }: InferredFields,
): KnownTypes {
  return {
    references: models.map((model) => [...(references.get(model) ?? [])]),
    computed: models.map((model) => [...(computed.get(model) ?? [])]),
    unread,
    importExtension,
  };
}

function fieldsOf(models: readonly NamedModel[], known: KnownTypes): InferredFields {
  return {
    references: new Map(models.map((model, i) => [model, new Set(known.references[i])])),
    computed: new Map(models.map((model, i) => [model, new Map(known.computed[i])])),
    unread: known.unread,
    importExtension: known.importExtension,
  };
}

function inferWith(
  compiler: Compiler,
  models: readonly NamedModel[],
  folder: string,
): InferredFields {
  const tsconfigs = tsconfigsIn(compiler, folder);
  const groups = new Map<Tsconfig, NamedModel[]>();
  for (const model of models) {
    const tsconfig = tsconfigs.of(model.modulePath);
    groups.set(tsconfig, [...(groups.get(tsconfig) ?? []), model]);
  }
  const references = new Map(models.map((model) => [model, new Set<string>()]));
  const computed = new Map<NamedModel, ReadonlyMap<string, string>>();
  const unread = new Set<string>();
  for (const [tsconfig, group] of groups) {
    const compare = typeComparison(compiler, folder, tsconfig);
    let pending: readonly NamedModel[] = group;
    while (pending.length > 0) {
      const results = compare(
        pending.map((model) => checkOf(model, folder, references.get(model)!)),
      );
      pending = pending.filter((model, position) => {
        const { differing, isUnread, computed: computedTypes } = results[position]!;
        computed.set(model, computedTypes);
        if (isUnread && !isJavaScript(model)) unread.add(model.modulePath);
        const innermost = innermostFields(differing);
        for (const { reference } of innermost) references.get(model)!.add(reference);
        // After the inner field has become a reference, the outer field may have the inferred type.
        return innermost.some(({ path }) => path.length > 1);
      });
    }
  }
  const importExtension = importExtensionOf(tsconfigs.of(models[0]?.modulePath));
  return { references, computed, unread: [...unread].sort(), importExtension };
}

/** True if a model's module is JavaScript. It has no types that could be lost. */
function isJavaScript({ modulePath }: NamedModel): boolean {
  return /\.[cm]?jsx?$/.test(modulePath);
}

function checkOf(model: NamedModel, folder: string, referred: ReadonlySet<string>): Check {
  const { names, modulePath, exportName } = model;
  const types = modelTypes(model.model, names, { referred, any: "any" });
  const specifier = JSON.stringify(importSpecifier(folder, modulePath));
  return {
    name: names.file,
    model: names.model,
    fields: types.fields,
    computed: computedParts(model),
    declarations: [
      'import type * as z from "zod";',
      `import type ${importedModel(exportName, names.model)} from ${specifier};`,
      ...namedTypes(types, names.row),
    ].join("\n"),
  };
}

function namedTypes({ row, named }: ModelTypes, rowName: string): string[] {
  return [
    `type ${rowName} = ${objectText(row.properties, row.rest)};`,
    ...named.map(({ name, type }) => `type ${name} = ${textOf(type)};`),
  ];
}

function innermostFields(fields: readonly SpelledField[]): readonly SpelledField[] {
  return fields.filter((outer) => !fields.some((inner) => isWithin(inner, outer)));
}

function isWithin(inner: SpelledField, outer: SpelledField): boolean {
  return (
    inner.side === outer.side &&
    inner.path.length > outer.path.length &&
    outer.path.every((name, position) => inner.path[position] === name)
  );
}
