/** Returns why a version of etcd such as `3.5.4` cannot be used, as a clause, or undefined. */
export function versionProblem(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  if (major < 3 || (major === 3 && minor < 4)) return "versions before 3.4 are not supported";
  // https://github.com/etcd-io/etcd/blob/main/Documentation/postmortems/v3.5-data-inconsistency.md
  const isInconsistent = major === 3 && minor === 5 && patch <= 5;
  return isInconsistent ? "versions 3.5.0 to 3.5.5 can lose and mix up data" : undefined;
}
