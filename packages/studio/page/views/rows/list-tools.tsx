import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { Explained, RowsQuery } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";
import { exportUrl } from "../../api/export-url.js";
import { useCall } from "../../api/use-call.js";
import { useStudio } from "../../navigation/studio-context.js";
import { CopyButton } from "../../parts/copy-button.js";
import { ErrorNote } from "../../parts/error-note.js";
import { MenuButton } from "../../parts/menu-button.js";
import { Lines } from "../../values/lines.js";
import { Text } from "../../values/text.js";
import { countText } from "../../values/value-text.js";
import { inferredCode, repositoryCode } from "./query/code-examples.js";
import { ColumnMenu } from "./table/column-menu.js";
import type { RowColumns } from "./table/row-columns.js";

interface Props {
  readonly model: ModelInfo;
  readonly query: RowsQuery;
  readonly own: Readonly<Record<string, unknown>>;
  readonly columns: RowColumns;
  /** Another number after each reload, so that rows are counted again. */
  readonly attempt: number;
  readonly onReload: () => void;
  readonly onCreate: () => void;
  readonly onColumn: (name: string) => void;
}

/** Shows how many rows the list has, and what can be done with it. */
export function ListTools(props: Props): ComponentChild {
  const { model, query, own, columns, attempt, onReload, onCreate, onColumn } = props;
  const { isReadOnly } = useStudio();
  const [explained, setExplained] = useState<Explained | StudioError | null>(null);
  const index = model.indexes.find(({ name }) => name === query.index) ?? null;
  const explain = () => {
    call("explain", { property: model.property, query: { ...query, take: 100 } }).then(
      setExplained,
      (error) => setExplained(errorDetails(error)),
    );
  };
  return (
    <>
      <div class="tools" role="toolbar" aria-label="List">
        <RowCount key={attempt} model={model} query={query} />
        {!isReadOnly && (
          <button type="button" onClick={onCreate}>
            New row
          </button>
        )}
        <button type="button" onClick={onReload}>
          Reload
        </button>
        <button type="button" onClick={explain}>
          Explain
        </button>
        <MenuButton label="Copy as code">
          <CodeExample title="Inferred" code={inferredCode(model, query)} />
          <CodeExample title="Repository" code={repositoryCode(model, index, own, query)} />
        </MenuButton>
        <MenuButton label="Export">
          <a href={exportUrl(model.property, "ndjson", query)} download>
            NDJSON, one row per line
          </a>
          <a href={exportUrl(model.property, "csv", query)} download>
            CSV, for spreadsheets
          </a>
        </MenuButton>
        <ColumnMenu columns={columns} onColumn={onColumn} />
      </div>
      {explained !== null && (
        <Explanation explained={explained} onClose={() => setExplained(null)} />
      )}
    </>
  );
}

function RowCount(props: { model: ModelInfo; query: RowsQuery }): ComponentChild {
  const { model, query } = props;
  const count = useCall("count", { property: model.property, query });
  const text = () => {
    if (count.error !== null) return "Not counted";
    if (count.isLoading) return "Counting…";
    if (query.withDeleted === true) return "Not counted with deleted rows";
    return count.data === null ? "More than 100,000 rows" : countText(count.data, "row");
  };
  return (
    <span class="row-count" role="status" data-testid="row-count">
      {text()}
    </span>
  );
}

function CodeExample({ title, code }: { title: string; code: string }): ComponentChild {
  return (
    <section class="code-example" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <CopyButton label={`Copy ${title.toLowerCase()} code`} text={code} />
      </header>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
  );
}

interface ExplanationProps {
  readonly explained: Explained | StudioError;
  readonly onClose: () => void;
}

function Explanation({ explained, onClose }: ExplanationProps): ComponentChild {
  if (!("index" in explained)) return <ErrorNote error={explained} />;
  return (
    <section class="note explanation" aria-label="Explanation">
      <p>
        Index: <strong>{<Text text={explained.index} />}</strong>
      </p>
      <p class="explained-text">
        <Lines text={explained.text} />
      </p>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </section>
  );
}
