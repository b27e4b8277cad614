import type { ComponentChild, ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Shows a button that opens a box below it. Escape or a click elsewhere closes the box. */
export function MenuButton({ label, children }: Props): ComponentChild {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const onPress = (event: PointerEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("pointerdown", onPress);
    document.addEventListener("keydown", onKey, true);
    return () => {
      document.removeEventListener("pointerdown", onPress);
      document.removeEventListener("keydown", onKey, true);
    };
  }, [isOpen]);

  return (
    <div class="menu" ref={box}>
      <button
        type="button"
        ref={button}
        aria-expanded={isOpen}
        onClick={() => setOpen((last) => !last)}
      >
        {label}
        <span aria-hidden="true"> ▾</span>
      </button>
      {isOpen && <div class="menu-box">{children}</div>}
    </div>
  );
}
