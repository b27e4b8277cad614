import type { ComponentChild } from "preact";
import type { Row } from "../../../src/protocol/rows.js";
import type { ModelInfo, RelationInfo } from "../../../src/protocol/studio-info.js";
import { childrenHref, parentHref } from "../../navigation/links.js";
import { useStudio } from "../../navigation/studio-context.js";
import { Text } from "../../values/text.js";

interface Props {
  readonly model: ModelInfo;
  readonly row: Row;
  readonly level: "h2" | "h3";
}

/** Shows links to the rows that belong to a row. */
export function RelationLinks({ model, row, level }: Props): ComponentChild {
  const Heading = level;
  const { models } = useStudio();
  if (model.relations.length === 0) return null;
  return (
    <section aria-label="Relations">
      <Heading>Relations</Heading>
      <ul class="relations">
        {model.relations.map((relation) => {
          const href = hrefOf(relation, model, row, models);
          return (
            <li key={relation.name}>
              {href === null ? (
                <span class="muted">
                  <Text text={relation.name} />
                  {relation.kind === "belongsTo" ? " (none)" : " (no index lists them)"}
                </span>
              ) : (
                <a href={href}>
                  <Text text={relation.name} />
                </a>
              )}{" "}
              <span class="muted">
                {kindText[relation.kind]} <Text text={relation.target} />
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const kindText: Readonly<Record<RelationInfo["kind"], string>> = {
  belongsTo: "one of",
  hasOne: "at most one of",
  hasMany: "many of",
  manyToMany: "many of",
};

function hrefOf(
  relation: RelationInfo,
  model: ModelInfo,
  row: Row,
  models: readonly ModelInfo[],
): string | null {
  if (relation.kind === "belongsTo") return parentHref(relation, row, models);
  const { through } = relation;
  const name = through?.model ?? relation.target;
  const target = models.find((each) => each.property === name || each.name === name);
  const fields = through?.from ?? relation.fields;
  return target === undefined ? null : childrenHref(target, fields, model, row);
}
