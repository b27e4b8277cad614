/** Returns the prefix of the secondary-index guide: `users`, `byEmail` → `users_by_email`. */
export function defaultIndexPrefix(modelName: string, indexName: string): string {
  const words = indexName
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2");
  return `${modelName}_${words.toLowerCase()}`;
}
