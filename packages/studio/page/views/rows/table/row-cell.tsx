import type { ComponentChild } from "preact";
import type { Row } from "../../../../src/protocol/rows.js";
import type { ModelInfo, RelationInfo } from "../../../../src/protocol/studio-info.js";
import { parentHref } from "../../../navigation/links.js";
import { Value } from "../../../values/value.js";

interface Props {
  readonly row: Row;
  readonly field: string;
  readonly relation: RelationInfo | undefined;
  readonly models: readonly ModelInfo[];
}

/** Shows a value of a row, as a link if it refers to another row. */
export function RowCell({ row, field, relation, models }: Props): ComponentChild {
  const href = relation === undefined ? null : parentHref(relation, row, models);
  if (href === null) return <Value value={row[field]} />;
  return (
    // The table is one stop of the tab key. The panel of the row has the same link.
    <a href={href} tabIndex={-1} onClick={(event) => event.stopPropagation()}>
      <Value value={row[field]} />
    </a>
  );
}
