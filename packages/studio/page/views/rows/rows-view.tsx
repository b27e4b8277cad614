import type { ComponentChild } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Row, RowsQuery } from "../../../src/protocol/rows.js";
import type { FieldInfo, ModelInfo } from "../../../src/protocol/studio-info.js";
import { encode } from "../../../src/protocol/wire.js";
import { plainError } from "../../api/call-error.js";
import { keyId, keyInAddress, keyOf, rowsHref } from "../../navigation/links.js";
import { type Route, replaceRoute } from "../../navigation/route.js";
import { useStudio } from "../../navigation/studio-context.js";
import { ErrorNote } from "../../parts/error-note.js";
import { Text } from "../../values/text.js";
import { FormDialog } from "../row/form-dialog.js";
import { RowPanel } from "../row/row-panel.js";
import { ListNotes } from "./list-notes.js";
import { ListTools } from "./list-tools.js";
import { SelectionBar } from "./many/selection-bar.js";
import { useSelection } from "./many/use-selection.js";
import { buildQuery } from "./query/build-query.js";
import { ColumnDialog } from "./query/column-dialog.js";
import { QueryBar } from "./query/query-bar.js";
import {
  chosenIndex,
  isTextIndex,
  type QueryState,
  queryParams,
  queryStateIn,
} from "./query/query-state.js";
import { FoundRows } from "./search/found-rows.js";
import { type RowColumns, useRowColumns } from "./table/row-columns.js";
import { RowTable } from "./table/row-table.js";
import { useLiveRows } from "./use-live-rows.js";
import { useRowList } from "./use-row-list.js";

interface Props {
  readonly model: ModelInfo;
  readonly route: Route;
}

/** Shows the rows of a model: the query, the table, and the row that is open. */
export function RowsView({ model, route }: Props): ComponentChild {
  const state = queryStateIn(route.params);
  const built = buildQuery(model, state);
  const place = queryParams(state).toString();
  const columns = useRowColumns(model);
  const [attempt, setAttempt] = useState(0);
  const reload = () => setAttempt((last) => last + 1);
  return (
    <section class="rows-view">
      <header class="rows-header">
        <h1>
          <Text text={model.property} />
        </h1>
        <QueryBar model={model} state={state} onReload={reload} />
      </header>
      {"message" in built ? (
        <ErrorNote error={plainError(built.message)} />
      ) : isTextIndex(chosenIndex(model, state)) ? (
        <FoundRows key={`${place} ${attempt}`} {...{ model, state }} where={built.own} />
      ) : (
        <Rows key={`${place} ${attempt}`} {...{ model, route, state, place, columns }} {...built} />
      )}
    </section>
  );
}

interface RowsProps extends Props {
  readonly state: QueryState;
  readonly columns: RowColumns;
  readonly query: RowsQuery;
  readonly own: Readonly<Record<string, unknown>>;
  /** The parameters of the list, without those of the row that is open. */
  readonly place: string;
}

function Rows({ model, route, state, query, own, place, columns }: RowsProps): ComponentChild {
  const { isLive } = useStudio();
  const { list, reload, attempt } = useRowList(model, query);
  const live = useLiveRows(model, list, isLive);
  const selection = useSelection(list);
  const [isCreating, setCreating] = useState(false);
  const [column, setColumn] = useState<FieldInfo | null>(null);
  const openText = route.params.get("row");
  const openKey = useMemo(() => keyInAddress(openText), [openText]);
  const openId = openKey === null ? null : keyId(model, openKey);

  const hrefWith = (key: Row | null) => {
    const params = new URLSearchParams(place);
    if (key !== null) params.set("row", encode(key));
    return rowsHref(model.property, params);
  };
  const open = (row: Row) => {
    const href = hrefWith(keyOf(model, row));
    // Going from row to row with the panel open makes one entry in the history.
    if (openKey === null) location.hash = href;
    else replaceRoute(href);
  };
  const close = () => {
    replaceRoute(hrefWith(null));
    document.getElementById("rows")?.focus();
  };

  return (
    <>
      <ListTools
        {...{ model, query, own, columns, attempt }}
        onReload={reload}
        onCreate={() => setCreating(true)}
        onColumn={(name) => setColumn(model.fields.find((field) => field.name === name) ?? null)}
      />
      <SelectionBar {...{ model, list, selection }} />
      <ListNotes list={list} live={live} onReload={reload} />
      <div class="rows-body">
        <RowTable
          key={attempt}
          {...{ model, list, columns, openId, selection }}
          onOpen={open}
          onColumn={setColumn}
        />
        {openKey !== null && openId !== null && (
          <RowPanel
            key={openId}
            model={model}
            rowKey={openKey}
            stamp={list.find(openId)?.seenAt ?? 0}
            onClose={close}
            onChanged={(now) => list.update(openId, now)}
          />
        )}
      </div>
      {column !== null && (
        <ColumnDialog {...{ model, state }} field={column} onClose={() => setColumn(null)} />
      )}
      {isCreating && (
        <FormDialog
          model={model}
          existing={null}
          onClose={() => setCreating(false)}
          onSaved={({ row }) => {
            setCreating(false);
            reload();
            open(row);
          }}
        />
      )}
    </>
  );
}
