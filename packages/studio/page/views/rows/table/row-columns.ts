import {
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  type ReactTable,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useMemo } from "preact/hooks";
import type { FieldInfo, ModelInfo } from "../../../../src/protocol/studio-info.js";
import type { ShownRow } from "../row-list.js";

const features = tableFeatures({
  columnVisibilityFeature,
  columnSizingFeature,
  columnResizingFeature,
});

// The table only has the columns. With the rows, it would build a model of all of them after each
// page, which takes too long with 100,000.
const noRows: ShownRow[] = [];

const widths: Readonly<Record<FieldInfo["kind"], number>> = {
  string: 190,
  number: 110,
  bigint: 130,
  boolean: 90,
  date: 215,
  bytes: 210,
  choice: 120,
  data: 240,
};

export type RowColumns = ReactTable<typeof features, ShownRow>;

/** Returns the columns of a model: which are visible, and how wide they are. */
export function useRowColumns(model: ModelInfo): RowColumns {
  const columns = useMemo(
    () =>
      orderedFields(model).map((field) => ({
        id: field.name,
        accessorFn: ({ row }: ShownRow) => row[field.name],
        size: widthOf(field),
        minSize: 60,
        maxSize: 1200,
      })),
    [model],
  );
  return useTable({ features, columns, data: noRows, columnResizeMode: "onChange" });
}

/** The primary key comes first. */
function orderedFields(model: ModelInfo): FieldInfo[] {
  const isKey = ({ name }: FieldInfo) => model.primaryKey.includes(name);
  return [...model.fields.filter(isKey), ...model.fields.filter((field) => !isKey(field))];
}

/** The name of the field has to fit too. */
function widthOf({ kind, name }: FieldInfo): number {
  return Math.min(320, Math.max(widths[kind], name.length * 8 + 36));
}
