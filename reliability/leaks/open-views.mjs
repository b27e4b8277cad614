import { OpenViews } from "@keywright/core/engine";

const { open } = OpenViews.prototype;
let count = 0;

/** Counts the views that the engines of this process have open. */
OpenViews.prototype.open = function (reads, release, versionstamp) {
  count++;
  const released = () => {
    count--;
    release();
  };
  return open.call(this, reads, released, versionstamp);
};

export function openViews() {
  return count;
}
