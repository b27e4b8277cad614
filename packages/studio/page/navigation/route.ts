import { useEffect, useState } from "preact/hooks";

const views = ["models", "rows", "row", "keys", "changes", "work", "migrations", "health"] as const;

export type ViewName = (typeof views)[number];

/** The view that the hash of the address names. */
export interface Route {
  readonly view: ViewName;
  /** The model of `rows` and `row`, or null. */
  readonly property: string | null;
  readonly params: URLSearchParams;
}

/** Returns the route of a hash such as `#/rows/users?index=byEmail`. */
function parseRoute(hash: string): Route {
  const [path = "", search = ""] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const [view, property] = path.split("/");
  return {
    view: views.find((name) => name === view) ?? "models",
    property: property ? decodePart(property) : null,
    params: new URLSearchParams(search),
  };
}

/** Returns the route of the address, and renders again when it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const onChange = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

/** Goes to an address without a new entry in the history. */
export function replaceRoute(href: string): void {
  history.replaceState(null, "", href);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** A hash that somebody typed may have a `%` that encodes nothing. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
