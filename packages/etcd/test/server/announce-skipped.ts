import { hasEtcd } from "./has-etcd.js";

/** Says before all tests which of them are skipped without a server. */
export default function announceSkipped(): void {
  if (hasEtcd) return;
  console.log(
    "Skipped the tests of @keywright/etcd that need a server. Install one: apt-get install etcd-server",
  );
}
