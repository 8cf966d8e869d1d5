/* The component takes colours as attributes; these are the console's. */
"use strict";
const LIGHT = {"bg-color": "#ffffff", "text-color": "#1c2733", "nav-bg-color": "#f4f6f8", "nav-text-color": "#1c2733",
  "nav-hover-bg-color": "#e3e8ed", "nav-hover-text-color": "#0b57a4", "primary-color": "#0b57a4", "secondary-color": "#0b57a4"};
const DARK = {"bg-color": "#141a1f", "text-color": "#e4e9ee", "nav-bg-color": "#1d252c", "nav-text-color": "#e4e9ee",
  "nav-hover-bg-color": "#2a343d", "nav-hover-text-color": "#8dc1ff", "primary-color": "#8dc1ff", "secondary-color": "#8dc1ff"};
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => {
  const explorer = document.querySelector("openapi-explorer");
  for (const [name, colour] of Object.entries(dark.matches ? DARK : LIGHT)) explorer.setAttribute(name, colour);
};
dark.addEventListener("change", paint);
paint();
