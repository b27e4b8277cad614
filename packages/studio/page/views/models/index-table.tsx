import type { ComponentChild } from "preact";
import type { MeasuredSize, ModelSize } from "../../../src/protocol/keys.js";
import type { IndexInfo, ModelInfo } from "../../../src/protocol/studio-info.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { sizeText } from "../../values/size-text.js";
import { Text } from "../../values/text.js";

interface Props {
  readonly model: ModelInfo;
  /** Undefined until it is measured. */
  readonly size: ModelSize | undefined;
}

/** Shows the indexes of a model, with their sizes when they are known. */
export function IndexTable({ model, size }: Props): ComponentChild {
  const label = `Indexes of ${model.property}`;
  return (
    <>
      <h3>Indexes</h3>
      <TableScroller label={label}>
        <table>
          <caption class="visually-hidden">{label}</caption>
          <thead>
            <tr>
              <th scope="col">Index</th>
              <th scope="col">Fields</th>
              <th scope="col">Rows</th>
              <th scope="col">State</th>
              {size !== undefined && <th scope="col">Size</th>}
            </tr>
          </thead>
          <tbody>
            {model.indexes.map((index) => (
              <tr key={index.name}>
                <th scope="row">
                  <Text text={index.name} />
                </th>
                <td>
                  <code>
                    <Text text={fieldsText(index)} />
                  </code>
                </td>
                <td>
                  <Text text={rowsText(index)} />
                </td>
                <td>
                  <span
                    class={index.state === "readable" ? "badge badge-good" : "badge badge-warn"}
                  >
                    <Text text={index.state} />
                  </span>
                </td>
                {size !== undefined && <IndexSize size={size.indexes[index.name]} />}
              </tr>
            ))}
          </tbody>
        </table>
      </TableScroller>
    </>
  );
}

function IndexSize({ size }: { size: MeasuredSize | undefined }): ComponentChild {
  if (size === undefined) return <td />;
  const entries = `${size.entries.toLocaleString("en")} ${size.entries === 1 ? "entry" : "entries"}`;
  return (
    <td class="number">
      {sizeText(size)} <span class="muted">{entries}</span>
    </td>
  );
}

function fieldsText({ fields, each }: IndexInfo): string {
  return fields
    .map(({ name, isDescending }) => {
      const text = name === each ? `each of ${name}` : name;
      return isDescending ? `${text} desc` : text;
    })
    .join(", ");
}

function rowsText(index: IndexInfo): string {
  const texts = [
    index.isUnique && "unique",
    index.isCounted && "counted",
    index.condition !== null && `only ${index.condition}`,
    index.text !== null && `words of ${index.text.join(", ")}`,
    !index.isQueryable && index.text === null && "computed key",
  ];
  return texts.filter((text) => text !== false).join(", ");
}
