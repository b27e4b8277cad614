type Inspect = (value: unknown, options: object) => string;

/**
 * Sets the text of a class's instances in `console.log`, `util.inspect` and `Deno.inspect`.
 *
 * @param textOf returns the text. Its second argument formats a value within it.
 */
export function defineInspect<T extends object>(
  type: { readonly prototype: T },
  textOf: (object: T, format: (value: unknown) => string) => string,
): void {
  define(type.prototype, "nodejs.util.inspect.custom", function (_depth, options, inspect) {
    return textOf(this, (value) => (inspect as Inspect)(value, options as object));
  });
  define(type.prototype, "Deno.privateCustomInspect", function (inspect, options) {
    return textOf(this, (value) => (inspect as Inspect)(value, options as object));
  });
}

function define<T extends object>(
  prototype: T,
  symbol: string,
  value: (this: T, ...args: unknown[]) => string,
): void {
  const property = { value, writable: true, enumerable: false, configurable: true };
  Object.defineProperty(prototype, Symbol.for(symbol), property);
}
