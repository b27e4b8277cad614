/** Says which tests are skipped because no server is installed. */
export function announceSkipped(): void {
  console.log(
    "Skipped the tests on a PostgreSQL server, because none is installed. To install one: apt-get install postgresql",
  );
}
