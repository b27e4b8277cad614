import { isKeywrightError } from "@keywright/core";
import { fileName, linesBefore } from "./compile.mjs";

/** Returns what the page shows of an error: its name, its message, its code and its line. */
export function failureOf(error) {
  if (!(error instanceof Error)) return { name: "Error", message: `Thrown: ${String(error)}` };
  const { name, message } = error;
  return {
    name,
    message: message.replace(`Error transforming ${fileName}: `, ""),
    ...(isKeywrightError(error) && { code: error.code }),
    ...placeOf(error),
  };
}

/** The line of the program, if the error comes from there. */
function placeOf({ loc, stack }) {
  // Sucrase says where it could not read a program.
  if (typeof loc?.line === "number") return { line: loc.line };
  const found = new RegExp(`${fileName}:(\\d+)`).exec(stack ?? "");
  return found === null ? {} : { line: Number(found[1]) - linesBefore };
}
