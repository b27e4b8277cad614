import { importedModel, type NamedModel } from "../project/model-names.js";
import { importSpecifier } from "../project/paths.js";
import { type Tsconfig, tsconfigsFor } from "../project/read-tsconfig.js";
import { textOf } from "../types/alternatives.js";
import { type ModelTypes, modelTypes } from "../types/model-types.js";
import { objectText } from "../types/object-type.js";
import type { SpelledField } from "../types/type-writer.js";
import { type Check, typeComparison } from "./check-types.js";
import { computedParts } from "./computed-parts.js";

/** What the compiler says of the types of models. */
export interface InferredFields {
  /** The references that stand for types which only the compiler knows, by the model. */
  readonly references: ReadonlyMap<NamedModel, ReadonlySet<string>>;
  /** The types of what functions make of rows for indexes, by the model and the index. */
  readonly computed: ReadonlyMap<NamedModel, ReadonlyMap<string, string>>;
  /** The absolute paths of modules whose types it could not read. */
  readonly unread: readonly string[];
}

/**
 * Finds what the compiler alone knows of models: what functions in indexes return, and the fields whose types, spelled out from
 * what schemas tell at run time, are not those that Zod infers: brands, members of a TypeScript `enum`, and what an annotation
 * or a cast says.
 *
 * @param folder of the generated files.
 */
export async function inferredFields(
  models: readonly NamedModel[],
  folder: string,
): Promise<InferredFields> {
  // It takes long to load, and most commands do without it.
  const { default: compiler } = await import("typescript");
  const tsconfigOf = tsconfigsFor(compiler, folder);
  const groups = new Map<Tsconfig, NamedModel[]>();
  for (const model of models) {
    const tsconfig = tsconfigOf(model.modulePath);
    groups.set(tsconfig, [...(groups.get(tsconfig) ?? []), model]);
  }
  const found = new Map(models.map((model) => [model, new Set<string>()]));
  const computed = new Map<NamedModel, ReadonlyMap<string, string>>();
  const unread = new Set<string>();
  for (const [tsconfig, group] of groups) {
    const compare = typeComparison(compiler, folder, tsconfig);
    let open: readonly NamedModel[] = group;
    while (open.length > 0) {
      const results = compare(open.map((model) => checkOf(model, folder, found.get(model)!)));
      open = open.filter((model, position) => {
        const { differing, isUnread, computed: madeTypes } = results[position]!;
        computed.set(model, madeTypes);
        if (isUnread && !isJavaScript(model)) unread.add(model.modulePath);
        const innermost = withoutOthersWithin(differing);
        for (const { reference } of innermost) found.get(model)!.add(reference);
        // With the inner one referred to, the outer one may be what Zod infers.
        return innermost.some(({ path }) => path.length > 1);
      });
    }
  }
  return { references: found, computed, unread: [...unread].sort() };
}

/** Whether a model's module has no types of its own, and so none to lose. */
function isJavaScript({ modulePath }: NamedModel): boolean {
  return /\.[cm]?jsx?$/.test(modulePath);
}

/** The types of a model as they would be written, which are compared with those that Zod infers. */
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

/** The fields that have none of the others within them. */
function withoutOthersWithin(fields: readonly SpelledField[]): readonly SpelledField[] {
  return fields.filter((outer) => !fields.some((inner) => isWithin(inner, outer)));
}

function isWithin(inner: SpelledField, outer: SpelledField): boolean {
  return (
    inner.side === outer.side &&
    inner.path.length > outer.path.length &&
    outer.path.every((name, position) => inner.path[position] === name)
  );
}
