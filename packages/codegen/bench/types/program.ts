/** The texts of the files of a project, by their paths. */
export type Files = Readonly<Record<string, string>>;

/** The application, written for one library, in parts that are measured separately. */
export interface Program {
  /** A file that imports what the others import, and does nothing with it. */
  readonly imports: Files;
  /** The models. Empty if they are not written in TypeScript. */
  readonly models: Files;
  /** Code that opens the database, and the generated code. */
  readonly database: Files;
  /** One file of queries for each model. The first is `queries-0.ts`. */
  readonly queries: Files;
}

/** The models to which a model has relations. The first and the last model are neighbours. */
export interface Neighbours {
  readonly parent: number;
  readonly child: number;
}

export function neighboursOf(position: number, count: number): Neighbours {
  return { parent: (position + count - 1) % count, child: (position + 1) % count };
}

/** True for every second model: its queries also read the row that it belongs to. */
export function readsParent(position: number): boolean {
  return position % 2 === 0;
}

/** Returns the numbers from 0 to `count`, exclusive. */
export function positions(count: number): number[] {
  return Array.from({ length: count }, (_, position) => position);
}

/** Makes a file for each position. */
export function eachFile(
  count: number,
  path: (position: number) => string,
  text: (position: number) => string,
): Files {
  return Object.fromEntries(positions(count).map((i) => [path(i), text(i)]));
}
