import type { ComponentChild } from "preact";
import type { ModelSize } from "../../../src/protocol/keys.js";
import type { FieldInfo, ModelInfo, RelationInfo } from "../../../src/protocol/studio-info.js";
import { useCall } from "../../api/use-call.js";
import { keysHref, rowsHref } from "../../navigation/links.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { sizeText, sumOf } from "../../values/size-text.js";
import { Text } from "../../values/text.js";
import { countText } from "../../values/value-text.js";
import { IndexTable } from "./index-table.js";

interface Props {
  readonly model: ModelInfo;
  /** Undefined until it is measured. */
  readonly size: ModelSize | undefined;
}

/** Shows the fields, indexes and relations of a model. */
export function ModelCard({ model, size }: Props): ComponentChild {
  const { property, name, prefix, primaryKey } = model;
  return (
    <article class="card" id={`model-${property}`} aria-labelledby={`title-${property}`}>
      <header class="card-header">
        <h2 id={`title-${property}`}>
          <Text text={property} />
        </h2>
        <ModelCount property={property} />
        {size !== undefined && (
          <span class="muted">{sizeText(sumOf([size.rows, ...Object.values(size.indexes)]))}</span>
        )}
        <a href={rowsHref(property)}>Rows</a>
        <a href={keysHref([prefix])}>Keys</a>
      </header>
      <p class="muted">
        {name !== property && (
          <>
            In the database <code>{<Text text={name} />}</code>.{" "}
          </>
        )}
        Primary key <code>{<Text text={primaryKey.join(", ")} />}</code>.
        {model.softDelete !== null && (
          <>
            {" "}
            Deleted rows have <code>{<Text text={model.softDelete} />}</code>.
          </>
        )}
      </p>
      <FieldTable model={model} />
      {model.indexes.length > 0 && <IndexTable model={model} size={size} />}
      {model.relations.length > 0 && (
        <>
          <h3>Relations</h3>
          <ul class="relations">
            {model.relations.map((relation) => (
              <RelationItem key={relation.name} relation={relation} />
            ))}
          </ul>
        </>
      )}
    </article>
  );
}

function ModelCount({ property }: { property: string }): ComponentChild {
  const count = useCall("count", { property, query: {} });
  if (count.error !== null) return <span class="muted">not counted</span>;
  if (count.isLoading) return <span class="muted">…</span>;
  const text = count.data === null ? "more than 100,000 rows" : countText(count.data, "row");
  return <span class="muted">{text}</span>;
}

function FieldTable({ model }: { model: ModelInfo }): ComponentChild {
  const label = `Fields of ${model.property}`;
  return (
    <TableScroller label={label}>
      <table>
        <caption class="visually-hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Type</th>
            <th scope="col">Remarks</th>
            <th scope="col">Description</th>
          </tr>
        </thead>
        <tbody>
          {model.fields.map((field) => (
            <tr key={field.name}>
              <th scope="row">
                <Text text={field.name} />
              </th>
              <td>
                <code>
                  <Text text={field.type} />
                </code>
              </td>
              <td>{remarks(model, field)}</td>
              <td>{field.description !== null && <Text text={field.description} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroller>
  );
}

function remarks(model: ModelInfo, field: FieldInfo): string {
  const texts = [
    model.primaryKey.includes(field.name) && "primary key",
    field.copied !== null && `copy of ${field.copied}`,
    field.isOptional && "optional",
    field.isNullable && "can be null",
    field.hasDefault && "has a default",
  ];
  return texts.filter((text) => text !== false).join(", ");
}

function RelationItem({ relation }: { relation: RelationInfo }): ComponentChild {
  const { name, kind, target, fields, through, onDelete } = relation;
  const by = through === null ? fields.join(", ") : `rows of ${through.model}`;
  return (
    <li>
      <Text text={name} /> <span class="muted">{kind}</span>{" "}
      <a href={rowsHref(target)}>
        <Text text={target} />
      </a>{" "}
      <span class="muted">
        by <Text text={by} />
        {onDelete !== null && `, on delete ${onDelete}`}
      </span>
    </li>
  );
}
