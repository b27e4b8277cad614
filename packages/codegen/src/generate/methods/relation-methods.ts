import type { BelongsTo, Relation } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import { NameUnusableError } from "../../errors/codegen-errors.js";
import type { ModelNames, NamedModel } from "../../project/models/model-names.js";
import { pascalCase } from "../../types/identifiers.js";
import { awaitOrIterate, listErrors, readLimit } from "./parts/list-errors.js";
import type { Method } from "./parts/method.js";

/** A relation whose target model is also generated. */
export interface LinkedModel {
  readonly name: string;
  readonly relation: Relation;
  readonly target: NamedModel;
  /** The model between the two. Only for `manyToMany`. */
  readonly through: NamedModel | undefined;
}

/**
 * Returns the relations of a model whose target is one of `models`. A database with any other
 * relation cannot be opened.
 */
export function linkedModels(model: CompiledModel, models: readonly NamedModel[]): LinkedModel[] {
  return Object.entries(model.relations).flatMap(([name, relation]) => {
    const find = (modelName: string) => models.find((one) => one.model.name === modelName);
    const target = find(relation.model);
    const through = relation.kind === "manyToMany" ? find(relation.through) : undefined;
    return target === undefined ? [] : [{ name, relation, target, through }];
  });
}

/** Returns the relations through which rows of `models` refer to rows of one model. */
export function referrersOf(model: CompiledModel, models: readonly NamedModel[]): BelongsTo[] {
  return models
    .flatMap((other) => Object.values(other.model.relations))
    .filter((relation) => relation.kind === "belongsTo")
    .filter((relation) => relation.model === model.name);
}

/**
 * Returns the methods that load the related rows: `loadAuthor` for one row, and `loadAuthorOfEach`
 * for several rows at once.
 */
export function relationMethods(
  model: CompiledModel,
  names: ModelNames,
  { name, relation, target }: LinkedModel,
): Method[] {
  const suffix = pascalCase(name);
  if (suffix === "") {
    throw new NameUnusableError({
      givenName: name,
      at: `a relation of model ${JSON.stringify(model.name)}`,
    });
  }
  const row = target.names.row;
  const at = JSON.stringify(name);
  const ofRow = `row: ${names.row}`;
  const ofRows = `rows: readonly ${names.row}[]`;
  const take = "options?: { take?: number | undefined }";
  const notReady = "{IndexNotReadyError} if the index of the relation is not built yet.";
  const invalidTake = "{InvalidArgumentError} if `take` is not a positive integer.";
  const errors = [...(relation.kind === "belongsTo" ? [] : [notReady]), readLimit];
  if (relation.kind === "belongsTo" || relation.kind === "hasOne") {
    return [
      {
        name: `load${suffix}`,
        description: `Returns the \`${name}\` of a row, or null if there is none.`,
        errors,
        parameters: [ofRow],
        result: `Promise<${row} | null>`,
        call: `loadRelated(${at}, row)`,
      },
      {
        name: `load${suffix}OfEach`,
        description: `Returns the \`${name}\` of each row, or null if there is none, in the order of the rows. All are read together.`,
        errors,
        parameters: [ofRows],
        result: `Promise<(${row} | null)[]>`,
        call: `loadRelatedOfEach(${at}, rows)`,
      },
    ];
  }
  const verb = relation.kind === "hasMany" ? "list" : "load";
  const one: Method =
    relation.kind === "hasMany"
      ? {
          name: `list${suffix}`,
          description: `Finds the \`${name}\` of a row. ${awaitOrIterate}`,
          errors: [notReady, ...listErrors],
          parameters: [ofRow, `options?: ListOptions<${row}>`],
          result: `ListQuery<${row}>`,
          call: `listRelated(${at}, row, options)`,
        }
      : {
          name: `load${suffix}`,
          description: `Returns the \`${name}\` of a row, in the order of the rows that link them.`,
          errors: [...errors, invalidTake],
          parameters: [ofRow, take],
          result: `Promise<${row}[]>`,
          call: `loadRelated(${at}, row, options)`,
        };
  return [
    one,
    {
      name: `${verb}${suffix}OfEach`,
      description: `Returns the \`${name}\` of each row, at most \`take\` for each, in the order of the rows. All are read together.`,
      errors: [...errors, invalidTake],
      parameters: [ofRows, take],
      result: `Promise<${row}[][]>`,
      call: `loadRelatedOfEach(${at}, rows, options)`,
    },
  ];
}
