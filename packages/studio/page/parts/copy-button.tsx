import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";

export function CopyButton({ label, text }: { label: string; text: string }): ComponentChild {
  const [done, setDone] = useState<string | null>(null);
  useEffect(() => {
    if (done === null) return undefined;
    const timer = setTimeout(() => setDone(null), 2000);
    return () => clearTimeout(timer);
  }, [done]);

  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setDone("Copied"),
      () => setDone("The browser does not allow it"),
    );
  };
  return (
    <button type="button" onClick={copy}>
      {label}
      <span class="copied" role="status">
        {done}
      </span>
    </button>
  );
}
