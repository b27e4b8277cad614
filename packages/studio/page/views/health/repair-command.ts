/** Returns the command that writes what can be read of a damaged database into a new one. */
export function rescueCommand(path: string | null | undefined): string {
  return `${repairCommand(path)} --rescue`;
}

/** Returns the command that cuts off the damaged end of a log. */
export function repairCommand(path: string | null | undefined): string {
  return `npx keywright repair ${path == null ? "<folder>" : quoted(path)}`;
}

/** Quotes a path for the shells of Unix, if it needs that. */
function quoted(path: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
