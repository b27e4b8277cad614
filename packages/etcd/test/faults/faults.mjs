const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What happens to the processes of a cluster of three members while 16 writers use it. */
export const crashes = {
  "leader killed": async (cluster) => {
    const leader = await leaderOf(cluster);
    await leader.stop();
    await sleep(2500);
    leader.start();
  },
  "leader paused": async (cluster) => {
    const leader = await leaderOf(cluster);
    leader.signal("SIGSTOP");
    await sleep(2500);
    leader.signal("SIGCONT");
  },
  "follower killed": async (cluster) => {
    const leader = await leaderOf(cluster);
    const follower = cluster.members.find((member) => member !== leader);
    await follower.stop();
    await sleep(1500);
    follower.start();
  },
  "rolling restart": async (cluster) => {
    for (const member of cluster.members) {
      await member.stop("SIGTERM");
      member.start();
      while ((await statusOf(member)) === undefined) await sleep(50);
      await sleep(500);
    }
  },
};

/** What happens to the network of such a cluster. */
export const partitions = {
  "leader cut off from the other members": async ({ members, gates: { peers } }) => {
    const leader = await leaderOf({ members });
    const leaderId = await idOf(leader);
    // The gate of a member has the connections that the others make to it.
    for (const [index, gate] of peers.entries())
      gate.cut((source) => members[index] === leader || source === leaderId);
    await sleep(4000);
    for (const gate of peers) gate.open();
  },
  "clients cut off from the leader": async ({ members, gates: { clients } }) => {
    const gate = clients[members.indexOf(await leaderOf({ members }))];
    gate.cut();
    await sleep(3000);
    gate.open();
  },
  "clients cut off from all members": async ({ gates: { clients } }) => {
    for (const gate of clients) gate.cut();
    await sleep(5000);
    for (const gate of clients) gate.open();
  },
};

/** Waits until the cluster has a leader. */
export async function leaderOf(cluster) {
  for (;;) {
    for (const member of cluster.members) {
      const status = await statusOf(member);
      if (status !== undefined && status.leader === status.header.member_id) return member;
    }
    await sleep(50);
  }
}

/** Returns the id by which members know each other. */
async function idOf(member) {
  const { header } = await statusOf(member);
  return BigInt(header.member_id).toString(16);
}

/** Returns the answer of a member that has a leader, or undefined. */
async function statusOf({ endpoint }) {
  try {
    const body = { method: "POST", body: "{}", signal: AbortSignal.timeout(500) };
    const response = await fetch(`${endpoint}/v3/maintenance/status`, body);
    const status = await response.json();
    return status.leader === undefined ? undefined : status;
  } catch {
    return undefined;
  }
}
