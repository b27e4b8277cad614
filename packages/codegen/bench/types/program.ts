/** A project as text: its files by their paths. */
export type Files = Readonly<Record<string, string>>;

/** The same application written for one library, in parts that can be measured apart. */
export interface Program {
  /** A file that imports what the others import, and does nothing with it. */
  readonly imports: Files;
  /** The models as they are written; none where they are not written in TypeScript. */
  readonly models: Files;
  /** How the database is opened, and what was generated for that. */
  readonly database: Files;
  /** A file with the queries over each model: `queries-0.ts` is the first. */
  readonly queries: Files;
}

/**
 * The models to which a model has relations: its neighbours, the first model follows the last one.
 */
export interface Neighbours {
  readonly parent: number;
  readonly child: number;
}

export function neighboursOf(position: number, count: number): Neighbours {
  return { parent: (position + count - 1) % count, child: (position + 1) % count };
}

/** Every other model is read with the row that it belongs to. */
export function readsParent(position: number): boolean {
  return position % 2 === 0;
}

/** Numbers from 0 up to `count`. */
export function positions(count: number): number[] {
  return Array.from({ length: count }, (_, position) => position);
}

/** A file for each position. */
export function eachFile(
  count: number,
  path: (position: number) => string,
  text: (position: number) => string,
): Files {
  return Object.fromEntries(positions(count).map((i) => [path(i), text(i)]));
}
