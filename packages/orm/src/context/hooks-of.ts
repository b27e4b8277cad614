import type { AnyHooks } from "./database-settings.js";
import type { TableContext } from "./table-context.js";

export function hooksOf({
  model,
  settings,
}: Pick<TableContext, "model" | "settings">): AnyHooks | undefined {
  return Object.hasOwn(settings.hooks, model.name) ? settings.hooks[model.name] : undefined;
}
