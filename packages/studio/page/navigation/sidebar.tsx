import type { ComponentChild } from "preact";
import { Text } from "../values/text.js";
import { rowsHref } from "./links.js";
import type { Route } from "./route.js";
import { useStudio } from "./studio-context.js";

const pages = [
  { view: "models", label: "Models" },
  { view: "keys", label: "Keys" },
  { view: "changes", label: "Changes" },
  { view: "work", label: "Jobs" },
  { view: "migrations", label: "Migrations" },
  { view: "health", label: "Health" },
] as const;

/** Shows the links to all views, and the models. On narrow screens it is a bar at the top. */
export function Sidebar({ route }: { route: Route }): ComponentChild {
  const { title, models, isReadOnly } = useStudio();
  return (
    <header class="sidebar">
      <p class="sidebar-title">
        <span class="mark" aria-hidden="true" />
        <span class="sidebar-name">
          <Text text={title} />
        </span>
        {isReadOnly && <span class="badge">read only</span>}
      </p>
      <nav aria-label="Views">
        <ul class="nav-list">
          {pages.map(({ view, label }) => (
            <li key={view}>
              <a href={`#/${view}`} aria-current={route.view === view ? "page" : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <nav aria-label="Rows of the models" class="nav-models">
        <h2 class="nav-heading">Rows</h2>
        {models.length === 0 && <p class="muted nav-empty">No models</p>}
        <ul class="nav-list">
          {models.map(({ property }) => (
            <li key={property}>
              <a
                href={rowsHref(property)}
                aria-current={isShown(route, property) ? "page" : undefined}
              >
                <Text text={property} />
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}

function isShown(route: Route, property: string): boolean {
  return (route.view === "rows" || route.view === "row") && route.property === property;
}
