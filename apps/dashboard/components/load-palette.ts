/** Loads the palette, which the first page does not need. */
export const loadPalette = () => import('./palette.js');
