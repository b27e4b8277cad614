import type { ComponentChild } from "preact";
import type { Row } from "../../../src/protocol/rows.js";
import { rowHref } from "../../navigation/links.js";
import { modelNamed, useStudio } from "../../navigation/studio-context.js";
import { Text } from "../../values/text.js";
import { valueText } from "../../values/value-text.js";

interface Props {
  /** The name of the model in the database. */
  readonly model: string;
  readonly rowKey: Row;
}

/** Shows the primary key of a row as a link, if the program has the model. */
export function KeyLink({ model, rowKey }: Props): ComponentChild {
  const found = modelNamed(useStudio(), model);
  const values = Object.values(rowKey).map((value) => valueText(value, 60));
  const text = values.join(", ");
  if (found === undefined) return <Text text={text} />;
  return (
    <a href={rowHref(found.property, rowKey)}>
      <Text text={text === "" ? "(empty)" : text} />
    </a>
  );
}
