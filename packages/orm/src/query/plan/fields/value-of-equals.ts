import { isPlainObject } from "../../../model/is-plain-object.js";

/** Returns the value of a condition `{ equals: value }`, and any other condition as it is. */
export function valueOfEquals(condition: unknown): unknown {
  return isEquals(condition) ? condition.equals : condition;
}

/** True for an object with `equals` and nothing else. */
function isEquals(condition: unknown): condition is { readonly equals: unknown } {
  return (
    isPlainObject(condition) &&
    Object.hasOwn(condition, "equals") &&
    Object.keys(condition).length === 1
  );
}
