import type * as node from "../node.js";

type Test = (value: unknown) => boolean;

/** Returns a test that is true for what a built-in method accepts: the instances of its class. */
function accepts(method: (this: never) => unknown): Test {
  return (value) => {
    if (typeof value !== "object" || value === null) return false;
    try {
      method.call(value as never);
      return true;
    } catch {
      return false;
    }
  };
}

function getterOf(prototype: object, name: PropertyKey): (this: never) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}

const nameOfView = getterOf(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
const isGlobal = getterOf(RegExp.prototype, "global");
const acceptsRegExp = accepts(isGlobal);
const isNumberObject = accepts(Number.prototype.valueOf);
const isStringObject = accepts(String.prototype.valueOf);
const isBooleanObject = accepts(Boolean.prototype.valueOf);
const isSymbolObject = accepts(Symbol.prototype.valueOf);
const isBigIntObject = accepts(BigInt.prototype.valueOf);
const isArrayBuffer = accepts(getterOf(ArrayBuffer.prototype, "byteLength"));
// Only pages that are isolated from other origins have the class.
const isSharedArrayBuffer: Test =
  typeof SharedArrayBuffer === "undefined"
    ? () => false
    : accepts(getterOf(SharedArrayBuffer.prototype, "byteLength"));
const { isError = (value: unknown) => Object.prototype.toString.call(value) === "[object Error]" } =
  Error as { isError?: Test };

/** Tests for built-in classes, which a changed prototype does not deceive. */
export const types: Pick<
  typeof node.types,
  | "isAnyArrayBuffer"
  | "isArrayBuffer"
  | "isBooleanObject"
  | "isBoxedPrimitive"
  | "isDate"
  | "isMap"
  | "isNativeError"
  | "isNumberObject"
  | "isProxy"
  | "isRegExp"
  | "isSet"
  | "isSharedArrayBuffer"
  | "isStringObject"
  | "isSymbolObject"
  | "isUint8Array"
> = {
  isAnyArrayBuffer: (value) => isArrayBuffer(value) || isSharedArrayBuffer(value),
  isArrayBuffer,
  isBooleanObject,
  isBoxedPrimitive: (value) =>
    isNumberObject(value) ||
    isStringObject(value) ||
    isBooleanObject(value) ||
    isSymbolObject(value) ||
    isBigIntObject(value),
  isDate: accepts(Date.prototype.getTime),
  isMap: accepts(getterOf(Map.prototype, "size")),
  isNativeError: (value) => isError(value),
  isNumberObject,
  // JavaScript cannot tell: a proxy is stored as the object that it stands for.
  isProxy: () => false,
  // The getter also accepts the prototype itself, for which it returns undefined.
  isRegExp: (value) => acceptsRegExp(value) && isGlobal.call(value as never) !== undefined,
  isSet: accepts(getterOf(Set.prototype, "size")),
  isSharedArrayBuffer,
  isStringObject,
  isSymbolObject,
  isUint8Array: (value) => nameOfView.call(value as never) === "Uint8Array",
} as Record<string, Test> as typeof types;
