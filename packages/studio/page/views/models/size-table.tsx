import type { ComponentChild } from "preact";
import type { ModelSize } from "../../../src/protocol/keys.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { ErrorNote } from "../../parts/error-note.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { type Size, sizeText, sumOf } from "../../values/size-text.js";
import { Text } from "../../values/text.js";
import type { Sizes } from "./use-sizes.js";

interface Props {
  readonly models: readonly ModelInfo[];
  readonly measured: Sizes;
}

/** Measures the models when it is asked to, and shows them, the largest first. */
export function SizeTable({ models, measured }: Props): ComponentChild {
  const { sizes, error, isMeasuring, measure } = measured;
  const lines = models
    .flatMap(({ property }) => {
      const size = sizes.get(property);
      return size === undefined ? [] : [lineOf(property, size)];
    })
    .sort((one, other) => other.total.bytes - one.total.bytes);
  return (
    <section aria-label="Sizes" class="sizes">
      <div class="tools">
        <button type="button" disabled={isMeasuring} onClick={measure}>
          {isMeasuring ? "Measuring…" : "Measure sizes"}
        </button>
        {lines.length === 0 && (
          <span class="muted">
            Reads up to 1,000 rows of each model, and up to 1,000 entries of each index.
          </span>
        )}
      </div>
      {error !== null && <ErrorNote error={error} onRetry={measure} />}
      {lines.length > 0 && <Lines lines={lines} />}
    </section>
  );
}

interface Line {
  readonly property: string;
  readonly rows: Size;
  readonly indexes: Size;
  readonly total: Size;
}

function lineOf(property: string, { rows, indexes }: ModelSize): Line {
  const ofIndexes = sumOf(Object.values(indexes));
  return { property, rows, indexes: ofIndexes, total: sumOf([rows, ofIndexes]) };
}

function Lines({ lines }: { lines: readonly Line[] }): ComponentChild {
  const total = sumOf(lines.map((line) => line.total));
  return (
    <>
      <TableScroller label="Sizes of the models">
        <table>
          <caption class="visually-hidden">Sizes of the models</caption>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Rows</th>
              <th scope="col">Indexes</th>
              <th scope="col">Total</th>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ property, rows, indexes, total: ofModel }) => (
              <tr key={property}>
                <th scope="row">
                  <Text text={property} />
                </th>
                <td class="number">{sizeText(rows)}</td>
                <td class="number">{sizeText(indexes)}</td>
                <td class="number">{sizeText(ofModel)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">All models</th>
              <td class="number">{sizeText(sumOf(lines.map(({ rows }) => rows)))}</td>
              <td class="number">{sizeText(sumOf(lines.map(({ indexes }) => indexes)))}</td>
              <td class="number">{sizeText(total)}</td>
            </tr>
          </tfoot>
        </table>
      </TableScroller>
      <p class="muted">
        {remark(total)} Bytes of keys and values, before the database compresses them.
      </p>
    </>
  );
}

function remark({ precision }: Size): string {
  if (precision === "exact") return "All entries were read.";
  const estimate = "≈ is the mean of the first and the last 500 entries, times their number.";
  const minimum = "≥ is what was read, because the rows are not counted.";
  return precision === "estimate" ? estimate : `${estimate} ${minimum}`;
}
