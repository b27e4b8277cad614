import type { CompiledModel } from "@keywright/orm/codegen";
import type { ModelNames } from "../../project/models/model-names.js";
import { propertyName } from "../../types/identifiers.js";
import type { Method } from "./parts/method.js";
import { relationsName } from "./parts/relations-type.js";
import type { LinkedModel } from "./relation-methods.js";

/**
 * Returns the methods that choose what the other methods return of a row, and of which rows.
 *
 * @param linked a relation of the model. Undefined if it has none.
 */
export function shapeMethods(
  { primaryKey, schema }: CompiledModel,
  names: ModelNames,
  linked: LinkedModel | undefined,
): Method[] {
  const { repository, row } = names;
  const relations = relationsName(names);
  const fields = Object.keys(schema.shape);
  const field = fields.find((name) => !primaryKey.includes(name)) ?? primaryKey[0] ?? "id";
  const relation = propertyName(linked?.name ?? "");
  const isMany = linked?.relation.kind === "hasMany" || linked?.relation.kind === "manyToMany";
  const include: Method = {
    name: "include",
    description: `Returns a repository that loads relations with each row: \`{ ${relation}: true }\`, or a query for each relation. \`_count\` adds numbers of related rows.`,
    typeParameters: `const I extends IncludeOf<${relations}>`,
    parameters: [`relations: I & CheckedRelations<${relations}, I>`],
    result: `${repository}<WithRelations<Row, ${relations}, I>>`,
    call: `view(${repository}, { include: relations })`,
  };
  const whereRelated: Method = {
    name: "whereRelated",
    description: `Returns a repository whose lists, counts and changes of many rows have only rows that meet conditions on related rows, such as \`{ ${relation}: { ${isMany ? "some" : "is"}: { … } } }\`. Indexes have to serve the conditions. \`UnindexedQueryError\` says what to declare.`,
    parameters: [`conditions: RelatedConditions<${relations}>`],
    result: `${repository}<Row>`,
    call: `view(${repository}, { whereRelated: conditions })`,
  };
  return [
    {
      name: "select",
      description: `Returns a repository that returns only some fields of rows: \`{ ${propertyName(field)}: true }\`.`,
      typeParameters: `F extends keyof ${row}`,
      parameters: ["fields: { readonly [K in F]: true }"],
      result: `${repository}<SelectedFields<${row}, F, Row>>`,
      call: `view(${repository}, { select: fields })`,
    },
    ...(linked === undefined ? [] : [include, whereRelated]),
    {
      name: "withVersionstamp",
      description:
        "Returns a repository that returns `{ row, versionstamp }`. A write can pass the versionstamp as `ifVersion`.",
      parameters: [],
      result: `${repository}<WithVersionstamp<Row>>`,
      call: `view(${repository}, { withVersionstamp: true })`,
    },
  ];
}
