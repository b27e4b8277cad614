import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";

// The fonts of the system: they are there at once, so no text moves when a font arrives.
export default DefaultTheme;
