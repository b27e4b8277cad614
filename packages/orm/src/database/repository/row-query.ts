import type { Page } from "../../state/context/page.js";

/**
 * A query that has not been run yet. If it is awaited, it reads a page. If it is iterated with
 * `for await`, it reads one row after another without holding them in memory, and stops reading
 * when the loop ends.
 */
export class RowQuery<Row> implements Promise<Page<Row>>, AsyncIterable<Row> {
  readonly [Symbol.toStringTag] = "RowQuery";
  readonly #page: () => Promise<Page<Row>>;
  readonly #stream: () => AsyncGenerator<Row>;
  #result: Promise<Page<Row>> | undefined;

  constructor(page: () => Promise<Page<Row>>, stream: () => AsyncGenerator<Row>) {
    this.#page = page;
    this.#stream = stream;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a query is what makes it read.
  then<A = Page<Row>, B = never>(
    onFulfilled?: ((page: Page<Row>) => A | PromiseLike<A>) | null,
    // biome-ignore lint/suspicious/noExplicitAny: a promise's type.
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#result ??= this.#page();
    return this.#result.then(onFulfilled, onRejected);
  }

  catch<B = never>(
    // biome-ignore lint/suspicious/noExplicitAny: a promise's type.
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<Page<Row> | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Page<Row>> {
    return this.then().finally(onFinally);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Row> {
    return this.#stream();
  }
}
