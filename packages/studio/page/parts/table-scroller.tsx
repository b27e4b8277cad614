import type { ComponentChild, ComponentChildren } from "preact";

/** Lets a wide table scroll inside its own box, also with the keyboard. */
export function TableScroller(props: {
  label: string;
  children: ComponentChildren;
}): ComponentChild {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the box scrolls with the arrow keys.
    <section class="scroller" aria-label={props.label} tabIndex={0}>
      {props.children}
    </section>
  );
}
