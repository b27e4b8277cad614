import type { ModelInfo } from "../../../src/protocol/studio-info.js";

/** A line from a model to the one that its rows refer to. */
export interface ModelLine {
  readonly from: string;
  readonly to: string;
  /** `author, editor` if two models have several lines. */
  readonly label: string;
}

export interface PlacedModel {
  readonly property: string;
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly places: ReadonlyMap<string, PlacedModel>;
  readonly lines: readonly ModelLine[];
  readonly width: number;
  readonly height: number;
}

export const boxWidth = 170;
export const boxHeight = 52;
export const gapX = 90;
export const gapY = 26;

/** Places models in columns: a model is to the right of those that its rows refer to. */
export function layoutModels(models: readonly ModelInfo[]): Layout {
  const lines = linesOf(models);
  const columns = new Map<string, number>();
  const columnOf = (property: string, path: readonly string[]): number => {
    const known = columns.get(property);
    if (known !== undefined) return known;
    // A circle of references has no first model: the line that closes it counts for nothing.
    const parents = lines.filter(({ from, to }) => from === property && !path.includes(to));
    const steps = parents.map(({ to }) => columnOf(to, [...path, to]) + 1);
    const column = Math.max(0, ...steps);
    columns.set(property, column);
    return column;
  };
  for (const { property } of models) columnOf(property, [property]);

  const heights: number[] = [];
  const places = new Map<string, PlacedModel>();
  for (const property of inOrder(models, lines, columns)) {
    const column = columns.get(property) ?? 0;
    const row = heights[column] ?? 0;
    heights[column] = row + 1;
    const x = column * (boxWidth + gapX);
    places.set(property, { property, x, y: row * (boxHeight + gapY) });
  }
  const rows = Math.max(0, ...heights.map((count = 0) => count));
  return {
    places,
    lines,
    width: heights.length * (boxWidth + gapX) - gapX,
    height: rows * (boxHeight + gapY),
  };
}

function linesOf(models: readonly ModelInfo[]): ModelLine[] {
  const lines = new Map<string, ModelLine>();
  for (const { property, relations } of models) {
    for (const { kind, target, name } of relations) {
      const isKnown = models.some((model) => model.property === target);
      if (kind !== "belongsTo" || !isKnown) continue;
      const id = JSON.stringify([property, target]);
      const label = [lines.get(id)?.label, name].filter((each) => each !== undefined).join(", ");
      lines.set(id, { from: property, to: target, label });
    }
  }
  return [...lines.values()];
}

/** Models with many lines come first, so that fewer lines cross. Those without lines are last. */
function inOrder(
  models: readonly ModelInfo[],
  lines: readonly ModelLine[],
  columns: ReadonlyMap<string, number>,
): string[] {
  const count = (property: string) =>
    lines.filter(({ from, to }) => from === property || to === property).length;
  return models
    .map(({ property }) => property)
    .sort(
      (one, other) =>
        (columns.get(one) ?? 0) - (columns.get(other) ?? 0) || count(other) - count(one),
    );
}
