import type { ComponentChild } from "preact";
import { useMemo } from "preact/hooks";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { countText } from "../../values/value-text.js";
import { visibleText } from "../../values/visible-text.js";
import {
  boxHeight,
  boxWidth,
  gapX,
  gapY,
  layoutModels,
  type PlacedModel,
} from "./layout-models.js";

const margin = 8;

/** Draws the models and the lines between them. A list says the same in words. */
export function ModelDiagram({ models }: { models: readonly ModelInfo[] }): ComponentChild {
  const layout = useMemo(() => layoutModels(models), [models]);
  const { places, lines, width, height } = layout;
  const fullWidth = width + 2 * margin;
  const fullHeight = height + 2 * margin;
  return (
    <figure class="diagram">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the box scrolls with the arrow keys. */}
      <section class="scroller" aria-label="Diagram of the models" tabIndex={0}>
        <svg
          width={fullWidth}
          height={fullHeight}
          viewBox={`${-margin} ${-margin} ${fullWidth} ${fullHeight}`}
          aria-hidden="true"
          focusable="false"
        >
          {lines.map(({ from, to, label }) => {
            const start = places.get(from);
            const end = places.get(to);
            if (start === undefined || end === undefined) return null;
            return (
              <g key={`${from} ${to}`}>
                <path class="diagram-line" d={lineBetween(start, end)}>
                  <title>{visibleText(label)}</title>
                </path>
                <circle
                  class="diagram-end"
                  cx={end.x + boxWidth}
                  cy={end.y + boxHeight / 2}
                  r="4"
                />
              </g>
            );
          })}
          {models.map((model) => (
            <ModelBox key={model.property} model={model} place={places.get(model.property)} />
          ))}
        </svg>
      </section>
      <figcaption>
        {lines.length > 0 && (
          <details>
            <summary>The lines in words: a dot is at the model that is referred to</summary>
            <ul>
              {lines.map(({ from, to, label }) => (
                <li key={`${from} ${to}`}>
                  {visibleText(from)} refers to {visibleText(to)} ({visibleText(label)})
                </li>
              ))}
            </ul>
          </details>
        )}
      </figcaption>
    </figure>
  );
}

interface BoxProps {
  readonly model: ModelInfo;
  readonly place: PlacedModel | undefined;
}

function ModelBox({ model, place }: BoxProps): ComponentChild {
  if (place === undefined) return null;
  const { property, fields, indexes } = model;
  const scrollTo = () => {
    document.getElementById(`model-${property}`)?.scrollIntoView({ block: "start" });
  };
  return (
    // The cards below are the same targets for the keyboard.
    // biome-ignore lint/a11y/noStaticElementInteractions: the picture is hidden from readers.
    <g class="diagram-box" transform={`translate(${place.x} ${place.y})`} onClick={scrollTo}>
      <rect width={boxWidth} height={boxHeight} rx="6" />
      <text x="12" y="22" class="diagram-name">
        {shortened(visibleText(property), 20)}
      </text>
      <text x="12" y="40" class="diagram-detail">
        {countText(fields.length, "field")}, {indexText(indexes.length)}
      </text>
    </g>
  );
}

/** A model is never to the right of those that refer to it, unless the references are a circle. */
function lineBetween(from: PlacedModel, to: PlacedModel): string {
  const startY = from.y + boxHeight / 2;
  const endY = to.y + boxHeight / 2;
  const right = to.x + boxWidth;
  if (from === to) return `M${right} ${startY - 10}c34 -16 34 36 0 20`;
  if (to.x >= from.x) {
    const start = from.x + boxWidth;
    return `M${start} ${startY}C${start + 45} ${startY} ${right + 45} ${endY} ${right} ${endY}`;
  }
  if (from.x - right <= gapX) return `M${from.x} ${startY}${curveTo(from.x, startY, right, endY)}`;
  // The line passes below the models of the columns between.
  const laneY = Math.min(from.y, to.y) + boxHeight + gapY / 2;
  const laneStart = from.x - gapX;
  const laneEnd = right + gapX;
  return [
    `M${from.x} ${startY}`,
    curveTo(from.x, startY, laneStart, laneY),
    `H${laneEnd}`,
    curveTo(laneEnd, laneY, right, endY),
  ].join("");
}

function curveTo(x: number, y: number, endX: number, endY: number): string {
  const middle = (x + endX) / 2;
  return `C${middle} ${y} ${middle} ${endY} ${endX} ${endY}`;
}

function indexText(count: number): string {
  return `${count} ${count === 1 ? "index" : "indexes"}`;
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
