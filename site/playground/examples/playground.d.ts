/** What programs in the playground can import from "playground". */
declare module "playground" {
  /** Draws the results of a live query as a table, each time that they change. */
  export function show(
    title: string,
    query: ReadableStream<unknown>,
  ): void;
  /** Adds a button that calls a function. */
  export function button(
    label: string,
    action: () => unknown,
  ): void;
}
