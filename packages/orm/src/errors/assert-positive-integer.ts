import { InvalidArgumentError } from "./query-errors.js";

/**
 * @param call the function that has the argument, if it is not a method of a repository.
 * @throws {InvalidArgumentError} if the value is not a positive integer.
 */
export function assertPositiveInteger(
  model: string,
  argument: string,
  value: unknown,
  call?: string,
): asserts value is number {
  if (Number.isSafeInteger(value) && (value as number) > 0) return;
  throw new InvalidArgumentError(model, argument, "it must be a positive integer", call);
}
